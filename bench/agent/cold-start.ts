// The time from a full server's start to the first connection it serves. `coldStart` runs this file in its own network
// namespace with real ranges, because every loopback address is local anyway.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Op } from '../../apps/agent/src/state/definitions.ts'
import { Store } from '../../apps/agent/src/state/store.ts'
import { type Setup, startAgentSubject } from './subjects.ts'

const [V4_RANGES, V6_RANGES, USERS] = [4096, 256, 10_000]
const addressOf = (user: number): string => `10.${user >> 12}.${(user >> 4) & 255}.${(user & 15) * 8}`
const prefixes = [
  ...Array.from({ length: V4_RANGES }, (_, n) => `10.${n >> 8}.${n & 255}.0/24`),
  ...Array.from({ length: V6_RANGES }, (_, n) => `2001:db8:${n.toString(16)}::/48`)
]

/** The time from a full server's start to the first served connection, and until all ranges are local. */
export function coldStart(folder: string): void {
  const own = ['--net', '--mount-proc', '--fork', '--pid']
  const run = spawnSync('unshare', [...own, process.execPath, import.meta.filename, folder], { stdio: 'inherit' })
  if (run.status !== 0) console.log('A start is not measured: this machine allows no network namespaces.')
}

async function measure(folder: string): Promise<void> {
  execFileSync('ip', ['link', 'set', 'lo', 'up'])
  const setup: Setup = {
    folder: join(folder, 'full'),
    addresses: [],
    port: 31_000 + Math.floor(Math.random() * 1000),
    workers: 1,
    user: 'bench',
    password: 'bench-password'
  }
  await fill(join(setup.folder, 'agent'), setup.password)
  const startedAt = performance.now()
  const again = await startAgentSubject(setup, `0-${cpus().length - 1}`, 'handles', { bare: true })
  const auth = `Basic ${Buffer.from('user9999:bench-password').toString('base64')}`
  const head = `CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\nProxy-Authorization: ${auth}\r\n\r\n`
  // The target port is closed: a known user gets 502, an unknown one 407.
  const until = startedAt + 60_000
  const last = addressOf(USERS - 1).replace(/0$/, '1')
  const isServed = async (): Promise<boolean> => (await ask(last, setup.port, head)).startsWith('HTTP/1.1 502')
  while (performance.now() < until && !(await isServed()));
  const served = performance.now() - startedAt
  while (performance.now() < until && routes() < prefixes.length) await new Promise(resolve => setTimeout(resolve, 20))
  const routed = performance.now() - startedAt
  console.log(
    `a start with ${V4_RANGES} IPv4 and ${V6_RANGES} IPv6 ranges and ${USERS} users: first connection served after ` +
      `${(served / 1000).toFixed(2)} s (goal ≤ 3), all ranges local after ${(routed / 1000).toFixed(2)} s`
  )
  await again.stop()
}

/** Writes the agent's state directly: 10,000 calls would take minutes on a busy machine. */
async function fill(folder: string, password: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const opened = await Store.open(folder, { publish: () => Promise.resolve(), writeFailed: () => {} })
  if (!opened.ok) throw new Error(opened.message)
  const { store } = opened
  const users: Op[] = Array.from({ length: USERS }, (_, n) => ({
    op: 'user',
    user: `user${n}`,
    record: {
      password,
      prefixes: [`${addressOf(n)}/29`],
      denySet: 'some',
      allowedClientIps: []
    }
  }))
  const ops: Op[] = [
    { op: 'prefixes', prefixes },
    { op: 'deny-set', hash: 'some', domains: ['denied.example'] },
    ...users
  ]
  await store.change(() => ({ ok: true, ops, value: null }))
  await store.close()
}

/** The number of ranges that the kernel treats as local. */
function routes(): number {
  const shown = (family: string): string =>
    execFileSync('ip', [family, 'route', 'show', 'table', 'local', 'type', 'local'], { encoding: 'utf8' })
  return ['-4', '-6'].flatMap(family => shown(family).match(/^local (?:10\.|2001:)\S+\//gm) ?? []).length
}

/** A proxy's first reply; empty if it is not listening. */
const ask = (host: string, port: number, head: string): Promise<string> =>
  new Promise(resolve => {
    const socket = connect({ host, port }, () => socket.write(head))
    const done = (text: string): void => {
      socket.destroy()
      setTimeout(() => resolve(text), 5)
    }
    socket.once('data', data => done(data.toString('latin1')))
    socket.once('error', () => done(''))
  })

if (process.argv[1] === import.meta.filename) {
  await measure(process.argv[2] ?? '')
  process.exit(0)
}
