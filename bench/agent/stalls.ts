// How long a byte in a tunnel waits while the management is busy, and the memory of a full server's processes.
import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatV4 } from '../../apps/agent/src/net/ip.ts'
import type { Op } from '../../apps/agent/src/state/definitions.ts'
import { Store } from '../../apps/agent/src/state/store.ts'
import type { Job, Report } from './load.ts'
import { type AgentSubject, memoryOf, type Setup, startAgentSubject } from './subjects.ts'

const USERS = 10_000
const ADDRESSES = 65_536
const DOMAINS = 50_000
const TUNNELS = 2000
const ROUNDS = 5
const ROUND_MS = 1500
/** The number of the call after which the server is full. */
const MEASURED_AFTER = 1
const BASE = ((127 << 24) | (128 << 16)) >>> 0
const PASSWORD = 'bench-password'

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const show = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(1))
const authOf = (user: string): string => `Basic ${Buffer.from(`${user}:${PASSWORD}`).toString('base64')}`
const addressOf = (n: number): string => formatV4(BASE + n)
const domainsOf = (list: number): string[] =>
  Array.from({ length: DOMAINS }, (_, n) => `site-${n}.list-${list}.example`)

const answer = <T>(child: ChildProcess): Promise<T> => new Promise(resolve => child.once('message', resolve))

/** Starts a helper, which releases its resources when disconnected. */
function helper(name: string, message: Job | null = null, execArgv: string[] = []): ChildProcess {
  const child = fork(script(name), [], { serialization: 'advanced', execArgv })
  if (message !== null) child.send(message)
  return child
}

/** Writes a full server's state as its agent would. */
async function fill(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const opened = await Store.open(folder, { publish: () => Promise.resolve(), writeFailed: () => {} })
  if (!opened.ok) throw new Error(opened.message)
  const ops: Op[] = [
    { op: 'prefixes', prefixes: ['127.128.0.0/16', '127.250.0.0/16'] },
    { op: 'deny-set', hash: 'all', domains: domainsOf(0) }
  ]
  for (let user = 0; user < USERS; user++) {
    const prefixes: string[] = []
    for (let n = user; n < ADDRESSES; n += USERS) prefixes.push(`${addressOf(n)}/32`)
    const limits = { mbps: 1000, connections: 500 }
    const record = { password: PASSWORD, prefixes, denySet: 'all', allowedClientIps: [], limits }
    ops.push({ op: 'user', user: `user${user}`, record })
  }
  await opened.store.change(() => ({ ok: true, ops, value: null }))
  await opened.store.close()
}

async function untilServing(agent: AgentSubject): Promise<void> {
  const until = performance.now() + 60_000
  for (;;) {
    try {
      return await agent.get('/healthz')
    } catch (error) {
      if (performance.now() > until) throw error
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
}

type Call = { name: string; work: (agent: AgentSubject, round: number) => Promise<unknown> }
const again = async (times: number, work: () => Promise<unknown>): Promise<void> => {
  for (let n = 0; n < times; n++) await work()
}
const putList = ({ put }: AgentSubject, user: number, list: number): Promise<void> =>
  put(`/api/users/list${user}`, {
    password: PASSWORD,
    prefixes: [`127.250.0.${user + 1}/32`],
    denied_domains: domainsOf(list)
  })

const calls: Call[] = [
  { name: 'nothing but counts and the renewal of limits each second', work: () => Promise.resolve() },
  { name: 'a put of 50,000 domains', work: (agent, round) => putList(agent, 0, 1 + round) },
  {
    name: 'eight of them at once, and the compaction that they bring',
    work: (agent, round) => Promise.all(Array.from({ length: 8 }, (_, n) => putList(agent, n, 100 + round * 8 + n)))
  },
  {
    name: '200 users one after the other',
    work: async ({ put }, round) => {
      for (let n = round * 200; n < round * 200 + 200; n++) {
        const prefixes = [`127.250.${1 + (n >> 8)}.${n & 255}/32`]
        await put(`/api/users/new${n}`, { password: PASSWORD, prefixes, denied_domains: ['denied.example'] })
      }
    }
  },
  { name: 'the list of all users', work: ({ get }) => again(3, () => get('/api/state')) },
  { name: 'the view of live connections', work: ({ get }) => again(10, () => get('/api/connections')) },
  { name: 'the figures', work: ({ get }) => again(20, () => get('/metrics')) },
  { name: 'the changes of traffic', work: ({ get }) => again(5, () => get('/api/traffic/changes?fresh=1')) }
]

function weigh(agent: AgentSubject): void {
  for (const { name, now, most } of memoryOf(agent)) {
    const verdict = `goal ≤ 300: ${now <= 300 ? 'met' : 'missed'}`
    console.log(
      `memory with 65,536 addresses, 10,000 users, 50,000 denied domains: ${name} ${show(now)} MB (${verdict}), ${show(most)} MB at most`
    )
  }
}

/** Measures and prints the results with their goals. */
export async function stalls(folder: string): Promise<void> {
  const kept = await answer<{ weight: number; ms: number; domains: number }>(
    helper('definitions.ts', null, ['--expose-gc'])
  )
  console.log(
    `1,000 combinations of rules, ${show(kept.domains)} domains each: ${show(kept.weight)} MB for the managing process, ${show(kept.ms)} ms to take one in`
  )
  const setup: Setup = {
    folder: join(folder, 'stalls'),
    addresses: [],
    port: 34_000 + Math.floor(Math.random() * 1000),
    workers: 2,
    user: '',
    password: ''
  }
  await fill(join(setup.folder, 'agent'))
  const target = helper('target.ts')
  const { echo } = await answer<{ echo: number }>(target)
  const agent = await startAgentSubject(setup, `0-${cpus().length - 1}`, 'handles', { bare: true })
  await untilServing(agent)
  const job = {
    addresses: Array.from({ length: TUNNELS }, (_, n) => addressOf(n)),
    auths: Array.from({ length: TUNNELS }, (_, n) => authOf(`user${n}`))
  }
  const to = { port: setup.port, target: echo, auth: '' }
  const idle = helper('load.ts', {
    ...job,
    ...to,
    kind: 'idle',
    concurrency: TUNNELS,
    ms: 0
  } satisfies Job)
  console.log(
    `with ${(await answer<Report>(idle)).count} tunnels of as many users on 2 workers, a byte through another one and back took at the longest:`
  )
  let quiet: number | undefined
  for (const [n, { name, work }] of calls.entries()) {
    const longest: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const pings = helper('load.ts', {
        ...job,
        ...to,
        kind: 'pings',
        concurrency: 1,
        ms: ROUND_MS
      } satisfies Job)
      // Wait until the tunnel is open.
      await new Promise(resolve => setTimeout(resolve, 400))
      const measured = answer<Report>(pings)
      await work(agent, round)
      longest.push((await measured).max)
      pings.disconnect()
    }
    const sorted = longest.toSorted((a, b) => a - b)
    // Other work of the machine affects only some rounds, the agent's work all of them, so take the minimum.
    const [least = 0] = sorted
    quiet ??= least
    const held = Math.max(0, least - quiet)
    const verdict =
      n === 0 ? '' : `, ${show(held)} ms longer than nothing did (goal ≤ 5: ${held <= 5 ? 'met' : 'missed'})`
    console.log(
      `  ${name}: ${show(least)} ms in the quietest of ${ROUNDS} rounds${verdict}; ${sorted.map(show).join(', ')}`
    )
    // After this call the others add nine times as many domains.
    if (n === MEASURED_AFTER) weigh(agent)
  }
  idle.disconnect()
  target.disconnect()
  await agent.stop()
}
