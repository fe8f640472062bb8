// The node agent: `npm run agent` on a proxy server. Settings come from the environment, see docs/AGENT.md.
import { fileURLToPath } from 'node:url'
import { WORKER } from './workers/program.ts'

// An installation has one file, which is manager and worker.
if (process.argv[2] === WORKER) await import('./workers/worker.ts')
else await (await import('./manage.ts')).manage(fileURLToPath(import.meta.url))
