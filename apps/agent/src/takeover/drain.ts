import type { AgentDraining } from '@netlet/contract/agent-takeover'
import { figuresSince, type PlaneFigures } from '../proxy/plane-figures.ts'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Channel, ToPredecessor, ToSuccessor, DrainReport } from './messages.ts'
import type { Generations } from './generations.ts'

/** Log note of tunnels that are cut when the time is over. */
const CUT = 'replaced'

/** A replaced process: it accepts nothing new, and handles its open connections as the successor asks. */
export class Drain {
  readonly #channel: Channel<ToPredecessor, ToSuccessor>
  readonly #backend: Generations
  readonly #self: Omit<AgentDraining, 'connections'>
  /** Counters at the start of the drain. The successor gets only what is counted later. */
  readonly #before: PlaneFigures
  #cutting: Promise<void> | null = null
  #left: () => void = () => {}
  /** Resolves when the process may end. */
  readonly over: Promise<void>

  constructor(channel: Channel<ToPredecessor, ToSuccessor>, backend: Generations, version: string) {
    this.#channel = channel
    this.#backend = backend
    this.#self = { version, pid: process.pid, since: new Date().toISOString() }
    this.#before = backend.figures().plane
    this.over = new Promise(resolve => (this.#left = resolve))
    // Without the successor no changes arrive, and tunnels by an old state are worse than none.
    void channel.gone.then(this.#left)
  }

  hear(message: ToPredecessor): void {
    const backend = this.#backend
    const channel = this.#channel
    if (message.type === 'ops') {
      const { id, ops } = message
      void backend.publish(ops).then(() => channel.send({ type: 'applied', id }))
    } else if (message.type === 'collect') {
      backend.share(message.shares, true)
      void this.#collect(message.id)
    } else if (message.type === 'look') {
      const { id, user, limit } = message
      void backend.look(user, limit).then(part => channel.send({ type: 'looked', id, part }))
    } else if (message.type === 'end') {
      const { id, user, connection } = message
      void backend.end(user, connection).then(ended => channel.send({ type: 'ended', id, ended }))
    } else if (message.type === 'spent') backend.setSpent(message.users)
    else if (message.type === 'reload') backend.reload()
    else if (message.type === 'keep') {
      if (message.most > 0) backend.keep(message.most - 1)
      else void this.cut()
    } else if (message.type === 'cut') {
      void this.cut().then(() => this.#tell(message.id))
    } else if (message.type === 'leave') this.#left()
  }

  /** Tells the successor that no new connection is accepted, and what is open. */
  async begin(): Promise<void> {
    this.#send(await this.#backend.collect())
    this.#channel.send({ type: 'draining', told: this.#report() })
  }

  async #collect(id: number): Promise<void> {
    // After the cut nothing is left to count.
    if (this.#cutting !== null) await this.#cutting
    else this.#send(await this.#backend.collect())
    this.#tell(id)
  }

  #send(pieces: Iterable<TrafficRow[]>): void {
    for (const rows of pieces) this.#channel.send({ type: 'rows', rows })
  }

  #tell(id: number): void {
    this.#channel.send({ type: 'collected', id, told: this.#report() })
  }

  #report(): DrainReport {
    const backend = this.#backend
    const { plane, processes } = backend.figures()
    const own = this.#cutting === null ? backend.ownConnections : 0
    return {
      connections: this.#cutting === null ? backend.connections() : 0,
      plane: figuresSince(plane, this.#before),
      processes,
      signs: backend.signs(),
      shares: backend.shares(),
      draining: [{ ...this.#self, connections: own }, ...backend.draining]
    }
  }

  /** Cuts all connections, here and in older processes. Resolves when the last counts are sent. */
  cut(): Promise<void> {
    return (this.#cutting ??= this.#backend.close(CUT).then(pieces => this.#send(pieces)))
  }
}
