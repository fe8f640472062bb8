// npm start, npm run dev: sets up, then runs the whole shop in demo mode on Node 24. See demo/main.ts.
import { spawn } from 'node:child_process'
import { install, node24, root } from './setup.mjs'

install()
const child = spawn(node24(), ['scripts/demo/main.ts', ...process.argv.slice(2)], {
  cwd: root,
  stdio: ['inherit', 'inherit', 'inherit', 'ipc']
})
// Ctrl+C reaches the whole group, but a supervisor sends SIGTERM only to this process.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
process.on('SIGINT', () => {})
// If npm is killed with SIGKILL, this process survives. End the shop then too.
const parent = process.ppid
setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 1000).unref()
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
