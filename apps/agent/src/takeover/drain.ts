import type { AgentDraining } from '@netlet/contract/agent-takeover'
import { figuresSince, type PlaneFigures } from '../proxy/plane-figures.ts'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Channel } from './channel.ts'
import type { Generations } from './generations.ts'
import type { Told, ToPredecessor, ToSuccessor } from './messages.ts'

/** What the access log says of tunnels that were cut at the end of the time. */
const CUT = 'replaced'

/** A process that takes no new connections, and does with those that it has what the new one says. */
export class Drain {
  readonly #channel: Channel<ToPredecessor, ToSuccessor>
  readonly #backend: Generations
  readonly #self: Omit<AgentDraining, 'connections'>
  /** Counters of before are none of the new process'. */
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
    // Nobody would tell of changes any more: better no tunnel than one by an old state.
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

  /** Says that no new connection is taken, and what there is. */
  async begin(): Promise<void> {
    this.#send(await this.#backend.collect())
    this.#channel.send({ type: 'draining', told: this.#told() })
  }

  async #collect(id: number): Promise<void> {
    // After the cut there is nothing more to count.
    if (this.#cutting !== null) await this.#cutting
    else this.#send(await this.#backend.collect())
    this.#tell(id)
  }

  #send(pieces: Iterable<TrafficRow[]>): void {
    for (const rows of pieces) this.#channel.send({ type: 'rows', rows })
  }

  #tell(id: number): void {
    this.#channel.send({ type: 'collected', id, told: this.#told() })
  }

  #told(): Told {
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

  /** Cuts whatever is open, here and in processes behind this one; the last counts have been sent when it resolves. */
  cut(): Promise<void> {
    return (this.#cutting ??= this.#backend.close(CUT).then(pieces => this.#send(pieces)))
  }
}
