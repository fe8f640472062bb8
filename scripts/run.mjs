// node scripts/run.mjs FILE [ARG ...]: sets up, then runs FILE on Node 24 with this process's terminal and signals.
import { spawn } from 'node:child_process'
import { install, node24, root } from './setup.mjs'

install()
const child = spawn(node24(), process.argv.slice(2), { cwd: root, stdio: 'inherit' })
// Ctrl+C reaches the whole group, but a supervisor sends SIGTERM only to this process.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
process.on('SIGINT', () => {})
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
