// Runs alone in a network namespace of its own (see many-ranges.test.ts) and prints what it saw as JSON.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startAgent } from '../src/agent.ts'
import { readConfig } from '../src/config.ts'
import { Store } from '../src/state/store.ts'

execFileSync('ip', ['link', 'set', 'lo', 'up'])
const folder = mkdtempSync(join(tmpdir(), 'netlet-ranges-'))
const prefixes = [
  ...Array.from({ length: 4096 }, (_, n) => `10.${n >> 8}.${n & 255}.0/24`),
  ...Array.from({ length: 256 }, (_, n) => `fd00:${n.toString(16)}::/48`)
]
const opened = await Store.open(folder, { publish: () => Promise.resolve(), writeFailed: () => {} })
if (!opened.ok) throw new Error(opened.message)
const record = { password: 'pw', prefixes: ['10.15.255.0/24', 'fd00:ff::/48'], denySet: 'd', allowedClientIps: [] }
await opened.store.change(() => ({
  ok: true,
  ops: [
    { op: 'prefixes', prefixes },
    { op: 'deny-set', hash: 'd', domains: [] },
    { op: 'user', user: 'u', record }
  ],
  value: null
}))
await opened.store.close()

const read = readConfig({ AGENT_TOKEN: 'token-of-this-test' })
if (!read.ok) throw new Error(read.message)
const started = await startAgent(
  { ...read.config, workers: 0, port: 0, proxyPort: 0, folder },
  { log: pino({ level: 'silent' }) }
)
if (!started.ok) throw new Error(started.message)
const { agent } = started

/** Nobody listens at the target: 502 to a user that is known. */
const ask = (host: string, target: string): Promise<string> =>
  new Promise(resolve => {
    const socket = connect({ host, port: agent.proxyPort })
    const auth = `Basic ${Buffer.from('u:pw').toString('base64')}`
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nProxy-Authorization: ${auth}\r\n\r\n`)
    socket.once('data', data => {
      socket.destroy()
      resolve(data.toString('latin1', 9, 12))
    })
    socket.once('error', error => resolve(error.message))
  })

console.log(
  JSON.stringify({
    local: agent.routes.state.filter(({ local }) => local).length,
    served: [await ask('10.15.255.255', 'x.invalid:80'), await ask('fd00:ff::ff', 'x.invalid:80')]
  })
)
await agent.close()
rmSync(folder, { recursive: true })
process.exit(0)
