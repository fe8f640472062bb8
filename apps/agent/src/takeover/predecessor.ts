import { type AgentDraining, MOST_DRAINING, TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import { borrowed, type ListenHandle, type Listener } from '../net/listen-handle.ts'
import type { AbuseSign } from '../proxy/abuse-watch.ts'
import type { Shares } from '../proxy/connection-limits.ts'
import type { LivePart } from '../proxy/live-connections.ts'
import { noFigures } from '../proxy/plane-figures.ts'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { WriteLines } from '../log/access-log.ts'
import type { Op } from '../state/definitions.ts'
import type { Channel, ToPredecessor, ToSuccessor, DrainReport } from './messages.ts'
import { signalIfThere } from './start-program.ts'

/** A draining process that does not answer in this time is killed. */
const ANSWER_MS = 10_000
/** How long it may take to release the state, or to stop accepting connections. */
const STEP_MS = 20_000

type Begin = Extract<ToSuccessor, { type: 'begin' }>
/** What the predecessor hands over. `lock`: the socket that locks the folder, with its file's name. */
export type Handed = {
  proxies: Listener[]
  management: Listener | null
  lock: { handle: ListenHandle; name: string } | null
  /** Connections that count for limits. */
  open: Shares['open']
}

const noReport = (): DrainReport => ({
  connections: 0,
  plane: noFigures(),
  processes: [],
  signs: [],
  shares: { open: [], speeds: [] },
  draining: []
})

/** The successor's view of the process it replaces: first the takeover, then the drain. */
export class Predecessor {
  readonly #channel: Channel<ToSuccessor, ToPredecessor>
  readonly #waiting = new Map<number, (message: ToSuccessor | null) => void>()
  readonly #steps = new Map<string, (message: ToSuccessor | null) => void>()
  /** Messages that arrived before `#step` asked for them. */
  readonly #arrived = new Map<string, ToSuccessor>()
  readonly #handed: Handed = { proxies: [], management: null, lock: null, open: [] }
  #rows: TrafficRow[][] = []
  #nextId = 1
  #pid = 0
  #log: WriteLines = () => {}
  /** Lines that arrived before `writeTo`. */
  #early: Array<[string, number]> = []
  report: DrainReport = noReport()

  constructor(channel: Channel<ToSuccessor, ToPredecessor>) {
    this.#channel = channel
    channel.onMessage((message, handle) => {
      if (message.type === 'log') this.#log(message.text, message.lines)
      else if (message.type === 'rows') this.#rows.push(message.rows)
      else if (message.type === 'listener') {
        if (handle === undefined) return
        const listener = borrowed(message.host, message.port, handle)
        if (message.which === 'proxy') this.#handed.proxies.push(listener)
        else this.#handed.management = listener
      } else if (message.type === 'lock') {
        if (handle !== undefined) this.#handed.lock = { handle, name: message.name }
      } else if ('id' in message) {
        if (message.type === 'collected') this.report = message.told
        this.#waiting.get(message.id)?.(message)
        this.#waiting.delete(message.id)
      } else {
        if (message.type === 'draining' && !channel.isGone) this.report = message.told
        const waiting = this.#steps.get(message.type)
        if (waiting === undefined) this.#arrived.set(message.type, message)
        else waiting(message)
      }
    })
    this.#log = (text, lines) => this.#early.push([text, lines])
    void this.#watch()
  }

  async #watch(): Promise<void> {
    await this.#channel.gone
    for (const answer of [...this.#waiting.values(), ...this.#steps.values()]) answer(null)
    this.#waiting.clear()
    // Its open connections are gone. Its counters stay.
    const plane = { ...this.report.plane, open: 0, targets: 0 }
    this.report = { ...this.report, plane, connections: 0, shares: { open: [], speeds: [] }, draining: [] }
  }

  /** Waits for a message of the takeover. Null: the process is gone, or late. */
  #step<T extends ToSuccessor['type']>(type: T): Promise<Extract<ToSuccessor, { type: T }> | null> {
    const arrived = this.#arrived.get(type)
    if (arrived !== undefined) return Promise.resolve(arrived as Extract<ToSuccessor, { type: T }>)
    if (this.#channel.isGone) return Promise.resolve(null)
    const { promise, resolve } = Promise.withResolvers<Extract<ToSuccessor, { type: T }> | null>()
    const late = setTimeout(() => resolve(null), STEP_MS)
    this.#steps.set(type, message => resolve(message as Extract<ToSuccessor, { type: T }> | null))
    return promise.finally(() => clearTimeout(late))
  }

  get isGone(): boolean {
    return this.#channel.isGone
  }

  readonly gone = (): Promise<void> => this.#channel.gone

  /** Waits for the predecessor's introduction. Null: it is gone. */
  async begin(): Promise<Begin | null> {
    const begin = await this.#step('begin')
    this.#pid = begin?.pid ?? 0
    return begin
  }

  /**
   * Reports ready workers, then waits for the state and the sockets. If the predecessor is gone, the sockets may be incomplete. Null:
   * it is alive but does not release the state.
   */
  async takeState(): Promise<Handed | null> {
    const yours = this.#step('yours')
    this.#channel.send({ type: 'ready', format: TAKEOVER_FORMAT })
    const came = await yours
    this.#handed.open = came?.open ?? []
    return came === null && !this.#channel.isGone ? null : this.#handed
  }

  /** Reports that this process accepts connections, and waits until the predecessor stops accepting. Kills it if it does not. */
  async takeConnections(): Promise<void> {
    const draining = this.#step('draining')
    this.#channel.send({ type: 'serving' })
    if ((await draining) === null) this.#kill()
  }

  failed(reason: string): void {
    this.#channel.send({ type: 'failed', reason })
  }

  #kill(): void {
    if (!this.#channel.isGone && this.#pid > 0) signalIfThere(this.#pid, 'SIGKILL')
  }

  writeTo(log: WriteLines): void {
    this.#log = log
    for (const [text, lines] of this.#early.splice(0)) log(text, lines)
  }

  #ask(make: (id: number) => ToPredecessor): Promise<ToSuccessor | null> {
    if (this.#channel.isGone) return Promise.resolve(null)
    return new Promise(resolve => {
      const id = this.#nextId++
      const late = setTimeout(() => this.#kill(), ANSWER_MS)
      this.#waiting.set(id, message => {
        clearTimeout(late)
        resolve(message)
      })
      this.#channel.send(make(id))
    })
  }

  async publish(ops: Op[]): Promise<void> {
    await this.#ask(id => ({ type: 'ops', id, ops }))
  }

  async collect(shares: Shares): Promise<TrafficRow[][]> {
    await this.#ask(id => ({ type: 'collect', id, shares }))
    return this.#rows.splice(0)
  }

  takeSigns(): AbuseSign[] {
    return this.report.signs.splice(0)
  }

  get draining(): AgentDraining[] {
    return this.report.draining
  }

  async look(user: string | null, limit: number): Promise<LivePart> {
    const looked = await this.#ask(id => ({ type: 'look', id, user, limit }))
    return looked?.type === 'looked' ? looked.part : { total: 0, users: [], connections: [] }
  }

  async end(user: string, connection: string | null): Promise<number> {
    const ended = await this.#ask(id => ({ type: 'end', id, user, connection }))
    return ended?.type === 'ended' ? ended.ended : 0
  }

  setSpent(users: string[]): void {
    this.#channel.send({ type: 'spent', users })
  }

  reload(): void {
    this.#channel.send({ type: 'reload' })
  }

  /** Limits how many processes may drain, the predecessor included. */
  keep(most: number = MOST_DRAINING): void {
    this.#channel.send({ type: 'keep', most })
  }

  /** Cuts all its connections, and returns the last counts. */
  async cut(): Promise<TrafficRow[][]> {
    await this.#ask(id => ({ type: 'cut', id }))
    return this.#rows.splice(0)
  }

  /** Asks the process to end and waits for it. Kills it if it is late. */
  async leave(): Promise<void> {
    this.#channel.send({ type: 'leave' })
    const late = setTimeout(() => this.#kill(), ANSWER_MS)
    await this.#channel.gone
    clearTimeout(late)
  }
}
