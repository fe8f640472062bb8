// npm test [-- STAGE | PATH | NAME ...], npm run test:long: sets up, then runs testing/main.ts on Node 24.
import { spawn } from 'node:child_process'
import { install, node24, root } from './setup.mjs'

install()
const child = spawn(node24(), ['scripts/testing/main.ts', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' })
// It stops its processes and prints a summary before it ends. Receiving Ctrl+C twice does no harm.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('exit', code => process.exit(code ?? 1))
