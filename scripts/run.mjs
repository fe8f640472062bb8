// node scripts/run.mjs FILE [ARG ...]: runs FILE on Node 24 with this process's terminal and signals.
import { spawn } from 'node:child_process'
import { node24, requireInstalled, root } from './setup.mjs'

requireInstalled()
const child = spawn(node24(), process.argv.slice(2), { cwd: root, stdio: 'inherit' })
// Ctrl+C reaches the whole group, but a supervisor sends its signal only to this process.
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
// If npm is killed with SIGKILL, this process survives. End the program then too.
const parent = process.ppid
setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 1000).unref()
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
