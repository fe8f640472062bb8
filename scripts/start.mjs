// npm start, npm run dev: sets up, then runs the whole shop in demo mode on Node 24. See demo/main.ts.
import { spawn } from 'node:child_process'
import { install, node24, root } from './setup.mjs'

install()
const child = spawn(node24(), ['scripts/demo/main.ts', ...process.argv.slice(2)], {
  cwd: root,
  stdio: ['inherit', 'inherit', 'inherit', 'ipc']
})
// The terminal sends Ctrl+C to the whole group; a supervisor sends SIGTERM to this process alone.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
process.on('SIGINT', () => {})
// npm killed outright leaves this process behind: then the shop ends too, as it would have with npm.
const parent = process.ppid
setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 1000).unref()
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
