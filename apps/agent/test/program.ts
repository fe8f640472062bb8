// The agent's program, with intervals that are short enough for tests.
import { fileURLToPath } from 'node:url'
import { WORKER } from '../src/workers/program.ts'

if (process.argv[2] === WORKER) await import('../src/workers/worker.ts')
else {
  const { manage } = await import('../src/manage.ts')
  await manage(fileURLToPath(import.meta.url), { collectMs: 100, restartMs: 100 })
}
