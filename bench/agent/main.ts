// `npm run bench:agent`: the agent compared with Squid, both with Basic authentication and egress = ingress, on the
// same cores.
import { fork } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { coldStart } from './cold-start.ts'
import type { Job, Report } from './load.ts'
import { stalls } from './stalls.ts'
import {
  type AgentSubject,
  cpuSeconds,
  findSquid,
  type Setup,
  startAgentSubject,
  startSquidSubject,
  type Subject
} from './subjects.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3)
const ms = Number(process.env['BENCH_MS'] ?? 3000)
const warmUpMs = Number(process.env['BENCH_WARM_UP_MS'] ?? 4000)
const stormTunnels = Number(process.env['BENCH_STORM'] ?? 100_000)
const STREAMS = 'agent on streams'
const P99_GOAL = 0.8
const only = process.env['BENCH_ONLY']
const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

type Measure = {
  name: string
  unit: string
  /** Minimum relative to Squid's rate, with one worker and with two. */
  goals: [number, number]
  job: Omit<Job, 'addresses' | 'port' | 'target' | 'auth'>
  to: 'http' | 'echo' | 'bulk'
  /** The number of leased addresses to use; default all. */
  addresses?: number
}
const measures: Measure[] = [
  { name: 'tunnels/s', unit: '/s', goals: [1.8, 1.6], to: 'echo', job: { kind: 'tunnels', concurrency: 32, ms } },
  {
    name: 'tunnels/s, 1 address',
    unit: '/s',
    goals: [1.8, 1.6],
    to: 'echo',
    addresses: 1,
    job: { kind: 'tunnels', concurrency: 32, ms }
  },
  {
    name: 'keep-alive requests/s',
    unit: '/s',
    goals: [3, 2.5],
    to: 'http',
    job: { kind: 'requests', concurrency: 32, ms }
  },
  {
    name: 'bytes/s, 1 tunnel',
    unit: 'MB/s',
    goals: [1.3, 1.3],
    to: 'bulk',
    job: { kind: 'bytes', concurrency: 1, ms }
  },
  {
    name: 'bytes/s, 50 tunnels',
    unit: 'MB/s',
    goals: [1.3, 1.3],
    to: 'bulk',
    job: { kind: 'bytes', concurrency: 50, ms }
  }
]

type Figure = { rate: number; perCpu: number; p99: number; errors: number }
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const show = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(2))

const helper = (name: string): ReturnType<typeof fork> => fork(script(name), [], { serialization: 'advanced' })
const answer = <T>(child: ReturnType<typeof fork>): Promise<T> => new Promise(resolve => child.once('message', resolve))

async function run(job: Job): Promise<{ report: Report; end: () => void }> {
  const child = helper('load.ts')
  child.send(job)
  const report = await answer<Report>(child)
  return { report, end: () => child.disconnect() }
}

async function measure(subject: Subject, job: Job): Promise<Figure> {
  const cpuBefore = cpuSeconds(subject.pids())
  const { report, end } = await run(job)
  const used = cpuSeconds(subject.pids()) - cpuBefore
  end()
  const amount = job.kind === 'bytes' ? report.count / 1e6 : report.count
  return {
    rate: amount / report.seconds,
    perCpu: amount / Math.max(used, 0.01),
    p99: report.p99,
    errors: report.errors
  }
}

async function compare(workers: number, folder: string): Promise<void> {
  const squid = findSquid()
  const target = helper('target.ts')
  const ports = await answer<{ http: number; echo: number; bulk: number }>(target)
  const cores = cpus().length
  const proxyCpus = workers >= cores ? `0-${cores - 1}` : workers === 1 ? '0' : `0-${workers - 1}`
  const second = 1 + Math.floor(Math.random() * 250)
  const setup = (name: string, port: number): Setup => ({
    folder: join(folder, `${name}${workers}`),
    addresses: Array.from({ length: 64 }, (_, n) => `127.${second}.${workers}.${n + 1}`),
    port,
    workers,
    user: 'bench',
    password: 'bench-password'
  })
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  const agentSetup = setup('agent', port)
  const agent = await startAgentSubject(agentSetup, proxyCpus)
  const subjects: Array<{ subject: Subject; setup: Setup; cpus: string }> = [
    { subject: agent, setup: agentSetup, cpus: proxyCpus }
  ]
  // The same agent on Node's public sockets instead of its internal handles.
  const streamsSetup = setup('streams', port + 4)
  subjects.push({
    subject: await startAgentSubject(streamsSetup, proxyCpus, 'streams'),
    setup: streamsSetup,
    cpus: proxyCpus
  })
  if (squid !== null) {
    const squidSetup = setup('squid', port + 2)
    subjects.push({
      subject: await startSquidSubject(squidSetup, proxyCpus, squid),
      setup: squidSetup,
      cpus: proxyCpus
    })
  }
  const auth = `Basic ${Buffer.from(`${agentSetup.user}:${agentSetup.password}`).toString('base64')}`
  const jobFor = (setup: Setup, to: Measure['to'], job: Measure['job'], addresses?: number): Job => ({
    ...job,
    addresses: setup.addresses.slice(0, addresses),
    port: setup.port,
    target: ports[to],
    auth
  })
  console.log(
    `\n${workers} worker${workers > 1 ? 's' : ''} on core ${proxyCpus}, ${rounds} rounds of ${ms} ms, medians`
  )
  for (const { name, unit, goals, job, to, addresses } of measures.filter(
    each => only === undefined || each.job.kind === only
  )) {
    const figures = new Map<string, Figure[]>()
    // Warm up: both fill caches, and the agent compiles code.
    for (let spent = 0; spent < warmUpMs; spent += ms) {
      for (const { subject, setup } of subjects) await measure(subject, jobFor(setup, to, job, addresses))
    }
    for (let round = 0; round < rounds; round++) {
      // Alternate, so that a slow phase of the machine affects both.
      for (const { subject, setup } of round % 2 === 0 ? subjects : subjects.toReversed()) {
        const figure = await measure(subject, jobFor(setup, to, job, addresses))
        figures.set(subject.name, [...(figures.get(subject.name) ?? []), figure])
      }
    }
    const of = (subject: string, key: keyof Figure): number =>
      median((figures.get(subject) ?? []).map(each => each[key]))
    const line = (subject: string): string => {
      const p99 = of(subject, 'p99')
      const tail = p99 > 0 ? `, p99 ${p99.toFixed(2)} ms` : ''
      return `${subject} ${show(of(subject, 'rate'))} ${unit} (${show(of(subject, 'perCpu'))} per CPU second${tail}, ${of(subject, 'errors')} errors)`
    }
    console.log(`${name}: ${line('agent')}`)
    console.log(`  and ${line(STREAMS)}`)
    if (squid === null) continue
    console.log(`  beside ${line('squid')}`)
    const goal = goals[Math.min(workers, 2) - 1] ?? 0
    for (const subject of ['agent', STREAMS]) {
      const ratio = (key: keyof Figure): number => of(subject, key) / of('squid', key)
      const p99 = of('squid', 'p99') > 0 ? `, p99 × ${ratio('p99').toFixed(2)} (goal ≤ ${P99_GOAL})` : ''
      const verdict = `goal ≥ ${goal}: ${ratio('rate') >= goal ? 'met' : 'missed'}`
      const rate = `${subject} : squid ${ratio('rate').toFixed(2)} (${verdict})`
      console.log(`  ${rate}; per CPU second ${ratio('perCpu').toFixed(2)}${p99}`)
    }
  }
  if (only === undefined || only === 'idle') {
    for (const { subject, setup } of subjects) {
      const before = subject.memory()
      const idle = await run(jobFor(setup, 'echo', { kind: 'idle', concurrency: 2000, ms: 0 }))
      await settled()
      const held = subject.memory()
      const storm = await run(
        jobFor(setup, 'echo', { kind: 'tunnels', concurrency: 64, ms: 600_000, count: stormTunnels })
      )
      storm.end()
      await settled()
      const after = subject.memory()
      idle.end()
      console.log(
        `memory of a worker: ${subject.name} ${before.toFixed(0)} MB, with ${idle.report.count} idle tunnels ` +
          `${held.toFixed(0)} MB, after a storm of ${storm.report.count} more ${after.toFixed(0)} MB (goal ≤ 150)`
      )
    }
  }
  if (only === undefined || only === 'pings') {
    const job = jobFor(agentSetup, 'echo', { kind: 'pings', concurrency: 1, ms: 4000 })
    const quiet = await run(job)
    quiet.end()
    const during = run(job)
    await putLists(agent, agentSetup)
    const busy = await during
    busy.end()
    const loading = run(job)
    await putMany(agent, agentSetup)
    const loaded = await loading
    loaded.end()
    const shown = ({ p50, p99, max }: Report): string => `p50 ${show(p50)}, p99 ${show(p99)}, longest ${show(max)} ms`
    console.log(`a byte through a tunnel and back: ${shown(quiet.report)}`)
    console.log(`  while eight users get 50,000 denied domains each: ${shown(busy.report)}`)
    console.log(`  while 500 users are put and the whole state is read: ${shown(loaded.report)}`)
    const stall = Math.max(busy.report.max, loaded.report.max) - quiet.report.max
    console.log(`  a management call held it ${show(Math.max(0, stall))} ms longer than nothing did (goal ≤ 5)`)
  }
  for (const { subject } of subjects) await subject.stop()
  target.disconnect()
}

/** Eight users with long lists of their own, in parallel. */
async function putLists({ put }: AgentSubject, { password }: Setup): Promise<void> {
  const lists = Array.from({ length: 8 }, (_, n) =>
    Array.from({ length: 50_000 }, (_, m) => `site-${m}.list-${n}.example`)
  )
  await Promise.all(
    lists.map((denied_domains, n) =>
      put(`/api/users/list${n}`, { password, prefixes: [`127.250.0.${n + 1}/32`], denied_domains })
    )
  )
}

/** Many small changes, and the largest replies. */
async function putMany({ put, get }: AgentSubject, { password }: Setup): Promise<void> {
  const users = Array.from({ length: 500 }, (_, n) => n)
  for (let at = 0; at < users.length; at += 100) {
    await Promise.all(
      users.slice(at, at + 100).map(n =>
        put(`/api/users/many${n}`, {
          password,
          prefixes: [`127.249.${n >> 8}.${n & 255}/32`],
          denied_domains: []
        })
      )
    )
  }
  await get('/api/state')
  await get('/api/traffic')
}

/** Waits until released memory has been returned. */
const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 1500))

async function authorisation(): Promise<void> {
  const child = fork(script('authorisation.ts'), [], { execArgv: ['--expose-gc'] })
  const { us, weight, rss, right } = await answer<{ us: number; weight: number; rss: number; right: boolean }>(child)
  console.log(
    `authorisation with 65,536 addresses, 10,000 users, 50,000 denied domains: ${us.toFixed(2)} µs (goal ≤ 5), ` +
      `${weight.toFixed(0)} MB for the tables, ${rss.toFixed(0)} MB in all (goal ≤ 300)${right ? '' : ' — WRONG ANSWERS'}`
  )
}

const folder = mkdtempSync(join(tmpdir(), 'netlet-bench-'))
chmodSync(folder, 0o755)
try {
  console.log(`${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.versions.node}`)
  await authorisation()
  if (only === undefined || only === 'stalls') await stalls(folder)
  if (findSquid() === null) console.log("Squid is not installed (Debian: 'squid'): the agent's figures alone.")
  if (only === undefined || only === 'start') coldStart(folder)
  if (only !== 'start' && only !== 'stalls') for (const workers of [1, 2]) await compare(workers, folder)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)
