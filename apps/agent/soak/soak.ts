import type { Socket } from 'node:net'
import { type Scenario, honest } from './honest.ts'
import { floods, hostile } from './hostile.ts'
import { type Held, startSubject, type Subject, until } from './subject.ts'
import { startTargets, type Targets } from './targets.ts'
import { Broken, numbers, type Place, Wrong } from './wire.ts'

export type SoakOptions = {
  folder: string
  seconds: number
  sockets: 'handles' | 'streams'
  /** Parts of the time, after each of which everything is closed and looked at. In the first half of them workers are killed, and processes replaced. */
  parts: number
  seed: number
  /** After how long silent connections end; as usual without it. */
  idleSeconds?: number
  say?: (line: string) => void
}
export type SoakReport = {
  /** What should not have happened, in words. */
  problems: string[]
  connections: number
  /** Deeds that ended well, and those that a killed worker or a deleted user interrupted. */
  done: number
  interrupted: number
  kills: number
  takeovers: number
  compactions: number
  begin: Left
  end: Left
  /** Bytes that each connection of the second half left behind, on the whole: in the heaps and buffers, and resident. */
  bytesPerConnection: number
  residentPerConnection: number
  connectionsOfSecondHalf: number
}

/** What the processes hold, and the local ports of connections to targets. */
export type Left = Held & { ports: number }

const USERS = 20
/** Of the user whose connections may be interrupted: its reading is held up and let go again. */
const MBPS = 400
const HONEST_LANES = 6
const HOSTILE_LANES = 6
const FLOOD_LANES = 2
/** A worker that was killed is back, and its connections are gone, after so long. */
const KILL_SHADOW_MS = 8000
const HAND_OVER_MS = 10_000
/** In the first half a process is replaced in every fourth part. */
const TAKEOVER_EVERY = 4
/** The managing process and its workers. */
const PROCESSES = 3
/** How many measurements are taken at the start. */
const LOOKS = 5
/** Longer than an ended side of a tunnel may be silent. */
const SETTLE_MS = 40_000

class Soak {
  readonly #subject: Subject
  readonly #targets: Targets
  readonly #any: (most: number) => number
  readonly #open = new Set<Socket>()
  readonly problems: string[] = []
  #stopAt = 0
  #killedAt = -Infinity
  #lists = 0
  #journal = 0
  done = 0
  interrupted = 0
  kills = 0
  takeovers = 0
  /** Connections of processes that were replaced. */
  acceptedBefore = 0
  compactions = 0

  constructor(options: SoakOptions, subject: Subject, targets: Targets) {
    this.#subject = subject
    this.#targets = targets
    this.#any = numbers(options.seed)
  }

  #place(user: 'kept' | 'moving'): Place {
    const { proxyPort: port } = this.#subject
    return { ip: user === 'kept' ? '127.98.0.1' : '127.98.0.2', port, user, password: 'secret', open: this.#open }
  }

  async putUsers(): Promise<void> {
    await this.#expect('PUT', '/api/prefixes', { prefixes: ['127.98.0.0/16'] })
    await this.#put('kept', 1)
    await this.#put('moving', 2)
  }

  #put(user: string, last: number, denied_domains: string[] = []): Promise<void> {
    return this.#expect('PUT', `/api/users/${user}`, {
      password: 'secret',
      prefixes: [`127.98.0.${last}/32`],
      denied_domains,
      ...(user === 'moving' ? { limits: { mbps: MBPS } } : {})
    })
  }

  async #expect(method: string, path: string, body?: unknown): Promise<void> {
    const ask = () => this.#subject.call(method, path, body)
    let { status, text } = await ask()
    // The moment of a takeover.
    for (const began = performance.now(); status === 503 && performance.now() < began + HAND_OVER_MS;) {
      await new Promise(resolve => setTimeout(resolve, 50))
      ;({ status, text } = await ask())
    }
    if (status !== 200) this.problems.push(`${method} ${path}: ${status} ${text.slice(0, 200)}`)
  }

  /** Does one thing as a client; what may not happen becomes a problem. */
  async #try(name: string, scenario: Scenario, user: 'kept' | 'moving'): Promise<void> {
    const began = performance.now()
    try {
      await scenario(this.#place(user), this.#targets, this.#any)
      this.done++
    } catch (error) {
      if (error instanceof Wrong) this.problems.push(`${name}: ${error.message}`)
      else if (!(error instanceof Broken)) throw error
      else if (user === 'moving' || began < this.#killedAt + KILL_SHADOW_MS) this.interrupted++
      else if (name in honest)
        this.problems.push(`${name}: ${error.message} after ${Math.round(performance.now() - began)} ms`)
    }
  }

  /** Each of them once, so that what is made at the first use is there. */
  async once(): Promise<void> {
    for (const [name, scenario] of [honest, hostile, floods].flatMap(scenarios => Object.entries(scenarios)))
      await this.#try(name, scenario, 'kept')
    await this.#manage()
  }

  async #lane(scenarios: Record<string, Scenario>): Promise<void> {
    const all = Object.entries(scenarios)
    while (performance.now() < this.#stopAt) {
      const [name, scenario] = all[this.#any(all.length)] ?? []
      if (name !== undefined && scenario !== undefined)
        await this.#try(name, scenario, this.#any(4) === 0 ? 'moving' : 'kept')
    }
  }

  /** What a console does: puts and deletes with lists of all lengths, and looks. */
  async #manage(): Promise<void> {
    const any = this.#any
    const list = ++this.#lists
    // Sets of their own each time, out of names that there are soon.
    const length = any(2) === 0 ? 7000 + any(1000) : any(100)
    const domains = Array.from({ length }, (_, n) => `site-${n}.list-${list % 3}.example.com`)
    if (any(3) === 0) await this.#expect('DELETE', '/api/users/moving')
    await this.#put('moving', 2, domains)
    await this.#put(`user-${list % USERS}`, 3 + (list % USERS), domains)
    if (any(2) === 0) await this.#expect('DELETE', `/api/users/user-${any(USERS)}`)
    for (const path of ['/api/state', '/api/connections', '/api/traffic/changes?fresh=1', '/api/log/follow'])
      await this.#expect('GET', path)
    await this.#expect('DELETE', '/api/connections?user=moving')
    const journal = await this.figure('journal_bytes')
    if (journal < this.#journal) this.compactions++
    this.#journal = journal
  }

  async #managing(): Promise<void> {
    while (performance.now() < this.#stopAt) {
      await this.#manage()
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }

  async #killing(): Promise<void> {
    await new Promise(resolve => setTimeout(resolve, (this.#stopAt - performance.now()) / 3))
    const workers = this.#subject.workers()
    const victim = workers[this.#any(workers.length)]
    if (victim === undefined) return
    this.#killedAt = performance.now()
    this.kills++
    process.kill(victim, 'SIGKILL')
  }

  /** Replaces the agent, which keeps open connections and refuses no new ones. */
  async takeOver(): Promise<void> {
    this.acceptedBefore += await this.figure('connections_accepted_total')
    this.takeovers++
    await this.#subject.takeOver()
  }

  async #takingOver(): Promise<void> {
    await new Promise(resolve => setTimeout(resolve, ((this.#stopAt - performance.now()) * 2) / 3))
    await this.takeOver()
  }

  async part(ms: number, { kill, takeOver }: { kill: boolean; takeOver: boolean }): Promise<void> {
    this.#stopAt = performance.now() + ms
    const lanes = [
      ...Array.from({ length: HONEST_LANES }, () => this.#lane(honest)),
      ...Array.from({ length: HOSTILE_LANES }, () => this.#lane(hostile)),
      ...Array.from({ length: FLOOD_LANES }, () => this.#lane(floods)),
      this.#managing(),
      ...(kill ? [this.#killing()] : []),
      ...(takeOver ? [this.#takingOver()] : [])
    ]
    await Promise.all(lanes)
  }

  async figure(name: string): Promise<number> {
    const { text } = await this.#subject.call('GET', '/metrics')
    return Number(new RegExp(`^netlet_agent_${name} (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN)
  }

  /** Closes all clients and waits until the agent has let go of what they had, as far as it does. */
  async settle(expected?: { handles: number; sockets: number; pids: number[] }): Promise<Left> {
    for (const socket of this.#open) socket.destroy()
    // The same state each time, or its weight would be taken for a leak.
    for (let n = 0; n < USERS; n++) await this.#expect('DELETE', `/api/users/user-${n}`)
    await this.#put('moving', 2)
    // The connection of a question may still be open on the agent's side: the least of some looks counts.
    let least: ReturnType<Subject['handles']> | undefined
    let looks = 0
    const isQuiet = async (): Promise<boolean> => {
      await this.#subject.call('GET', '/api/traffic/changes?fresh=1')
      if ((await this.figure('connections')) !== 0 || (await this.figure('workers')) !== 2) return false
      const counted = this.#subject.handles()
      if (counted.pids.length > PROCESSES) return false
      looks++
      if (least === undefined || counted.handles < least.handles) least = counted
      if (expected === undefined) return looks === LOOKS
      return least.handles <= expected.handles && least.sockets <= expected.sockets
    }
    await until('quiet', isQuiet, SETTLE_MS).catch(() => {})
    return { ...(await this.#subject.held()), ...least, ports: await this.figure('local_ports_used') }
  }
}

const INTERRUPTS = ['SIGINT', 'SIGTERM'] as const

/** The slope of the line that fits best. */
function slope(points: ReadonlyArray<{ x: number; y: number }>): number {
  const mean = (of: 'x' | 'y'): number => points.reduce((sum, point) => sum + point[of], 0) / points.length
  const [x, y] = [mean('x'), mean('y')]
  const above = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0)
  const below = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0)
  return below === 0 ? 0 : above / below
}

/**
 * Runs honest and hostile clients against an agent for a while, with puts, deletions and kills of workers, and reports
 * what is left when all is closed. Memory is what the processes hold after a collection, in the second half, in which no worker is killed.
 */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const targets = await startTargets()
  const subject = await startSubject(options.folder, options.sockets, options.idleSeconds)
  const run = new Soak(options, subject, targets)
  // A process that took over is not our child, so ending this one would leave it running.
  const interrupt = () => void subject.stop().finally(() => process.exit(130))
  for (const signal of INTERRUPTS) process.once(signal, interrupt)
  try {
    await run.putUsers()
    // The first process has its handles from who started it; those that take over are like each other.
    await run.takeOver()
    await run.once()
    const begin = await run.settle()
    const points: Array<{ x: number; held: number; resident: number }> = []
    let end = begin
    /** After the last kill and the last takeover. No process starts later, so the handles stay constant. */
    let steady = begin
    let told = 0
    for (let n = 0; n < options.parts; n++) {
      const isFirstHalf = n < Math.floor(options.parts / 2)
      const takeOver = isFirstHalf && n % TAKEOVER_EVERY === 0
      await run.part((options.seconds * 1000) / options.parts, { kill: isFirstHalf, takeOver })
      end = await run.settle(begin)
      if (isFirstHalf) steady = end
      const accepted = run.acceptedBefore + (await run.figure('connections_accepted_total'))
      points.push({ x: accepted, held: end.bytes, resident: end.rss })
      options.say?.(
        `part ${n + 1}: ${accepted} connections, ${end.handles} handles, ${end.sockets} sockets, ${end.ports} ports, ${end.pids.length} processes, ` +
          `${(end.bytes / 1e6).toFixed(1)} MB held, ${(end.rss / 1e6).toFixed(0)} MB resident; ${run.done} done, ${run.interrupted} interrupted, ${run.kills} kills, ${run.takeovers} takeovers, ${run.compactions} compactions, ${run.problems.length} problems`
      )
      for (const problem of run.problems.slice(told)) options.say?.(`  ${problem}`)
      told = run.problems.length
    }
    const { problems, done, interrupted, kills, takeovers, compactions } = run
    for (const what of ['handles', 'sockets', 'ports'] as const) {
      if (end[what] > begin[what]) problems.push(`${end[what]} ${what} at the end, ${begin[what]} at the beginning`)
    }
    if (end.pids.length !== begin.pids.length)
      problems.push(`${end.pids.length} processes, ${begin.pids.length} at the beginning`)
    if (end.resources !== steady.resources)
      problems.push(`after the last kill ${steady.resources}; at the end ${end.resources}`)
    const faults = /An error in the agent ended a connection[^\n]*/.exec(subject.output())?.[0]
    if (faults !== undefined) problems.push(faults)
    const second = points.slice(Math.floor(points.length / 2))
    const connections = points.at(-1)?.x ?? 0
    const pids = subject.pids()
    const status = await subject.stop()
    if (status !== 0) problems.push(`it stopped with status ${status}`)
    await until('its processes to be gone', () => pids.every(pid => !isThere(pid)), 10_000).catch(() =>
      problems.push('a process stayed')
    )
    return {
      problems,
      connections,
      done,
      interrupted,
      kills,
      takeovers,
      compactions,
      begin,
      end,
      bytesPerConnection: slope(second.map(({ x, held }) => ({ x, y: held }))),
      residentPerConnection: slope(second.map(({ x, resident }) => ({ x, y: resident }))),
      connectionsOfSecondHalf: connections - (second[0]?.x ?? 0)
    }
  } finally {
    for (const signal of INTERRUPTS) process.off(signal, interrupt)
    await subject.stop()
    await targets.close()
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
