// How long a full server takes from its start to the first connection that it serves.
import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Op } from '../../apps/agent/src/state/ops.ts'
import { Store } from '../../apps/agent/src/state/store.ts'
import { type Setup, startAgentSubject } from './subjects.ts'

/** From the start of a full server to the first connection that is served. */
export async function coldStart(folder: string): Promise<void> {
  const setup: Setup = {
    folder: join(folder, 'full'),
    addresses: ['127.240.0.1'],
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
  // Nobody listens there: a 502 is the answer to a user that is known, 407 to one that is not.
  const until = startedAt + 60_000
  while (
    performance.now() < until &&
    !(await ask(`127.${128 + (9999 >> 12)}.${(9999 >> 4) & 255}.${(9999 & 15) * 8 + 1}`, setup.port, head)).startsWith(
      'HTTP/1.1 502'
    )
  );
  const seconds = (performance.now() - startedAt) / 1000
  console.log(
    `a start with 4,096 ranges and 10,000 users: first connection served after ${seconds.toFixed(2)} s (goal ≤ 3)`
  )
  await again.stop()
}

/** Writes the state as an agent would have: 10,000 calls would take minutes on a busy machine. */
async function fill(folder: string, password: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const opened = await Store.open(folder, { publish: () => Promise.resolve(), writeFailed: () => {} })
  if (!opened.ok) throw new Error(opened.message)
  const { store } = opened
  const prefixes = Array.from({ length: 4096 }, (_, n) => `127.${128 + (n >> 8)}.${n & 255}.0/24`)
  const users: Op[] = Array.from({ length: 10_000 }, (_, n) => ({
    op: 'user',
    user: `user${n}`,
    record: {
      password,
      prefixes: [`127.${128 + (n >> 12)}.${(n >> 4) & 255}.${(n & 15) * 8}/29`],
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

/** What a proxy answers first; nothing where it is not there. */
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
