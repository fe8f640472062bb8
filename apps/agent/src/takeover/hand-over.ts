import type { FastifyInstance } from 'fastify'
import { Server } from 'node:net'
import { type AgentTakeover, TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import type { Collector } from '../collector.ts'
import type { WriteLines } from '../log/access-log.ts'
import { handleOf, lent } from '../net/listen-handle.ts'
import type { ProxyTls } from '../proxy-tls.ts'
import type { StateFiles } from '../state/folder.ts'
import type { Lock } from '../state/lock.ts'
import type { Store } from '../state/store.ts'
import type { Channel, ToPredecessor, ToSuccessor } from './messages.ts'
import { Drain } from './drain.ts'
import type { Generations } from './generations.ts'
import type { Handed } from './predecessor.ts'

/** Kept connections of the management API stay this long, because a request may be on its way. */
const LINGER_MS = 2000

/** Whether this process serves, and the result of the last takeover. */
export type HandingOver = {
  /** The file of the program. */
  path: string
  servesSince: string
  isUnderWay: boolean
  /** Another process serves. */
  isOver: boolean
  last: AgentTakeover
}

type Parts = {
  state: HandingOver
  version: string
  folder: { path: string; lock: Lock | null }
  host: string
  port: number
  store: Store
  files: StateFiles
  proxyTls: ProxyTls
  collector: Collector
  backend: Generations
  api: FastifyInstance
  /** Receives finished lines of the access log. */
  lines: LineSink
  /** Stops what only the serving process does. */
  rest: () => void
}

/** Routes finished log lines to their present destination. */
export class LineSink {
  #to: WriteLines | null
  #waiting: Array<[string, number]> = []

  constructor(to: WriteLines | null) {
    this.#to = to
  }

  readonly write: WriteLines = (text, lines) => {
    if (this.#to === null) this.#waiting.push([text, lines])
    else this.#to(text, lines)
  }

  /** Null: lines wait. */
  turn(to: WriteLines | null): void {
    this.#to = to
    if (to !== null) for (const [text, lines] of this.#waiting.splice(0)) to(text, lines)
  }
}

/** The serving process' side of a takeover, step by step. */
export class HandOver {
  readonly #parts: Parts
  readonly #own: WriteLines

  constructor(parts: Parts, own: WriteLines) {
    this.#parts = parts
    this.#own = own
  }

  get state(): HandingOver {
    return this.#parts.state
  }

  async begin(): Promise<Extract<ToSuccessor, { type: 'begin' }>> {
    const { folder, version, host, port, store } = this.#parts
    const journal = await store.show()
    return {
      type: 'begin',
      format: TAKEOVER_FORMAT,
      version,
      pid: process.pid,
      folder: folder.path,
      host,
      port,
      journal
    }
  }

  /** No other process reads the journal any more. */
  abandon(): void {
    this.#parts.store.hide()
  }

  /** Stops changes, saves everything, and releases the state. The lock goes with the sockets, so the folder is always locked. */
  async letGo(): Promise<Handed> {
    const { state, folder, host, port, store, files, proxyTls, collector, backend, api, lines } = this.#parts
    state.isUnderWay = true
    await collector.pause()
    lines.turn(null)
    await files.totals.settle()
    await files.owner.settled()
    await files.token.settled()
    await proxyTls.settled()
    await files.accessLog.flush()
    await store.release()
    const handle = handleOf(api.server)
    const management = handle === null ? null : lent(host, port, handle)
    const { listeners, open } = await backend.lend()
    return { proxies: listeners, management, lock: folder.lock?.handed ?? null, open }
  }

  /** The new process failed: counts and logs again. Works after a `letGo` that got only half-way. */
  goOn(): void {
    const { collector, lines } = this.#parts
    lines.turn(this.#own)
    collector.start()
  }

  /** Takes the state back. @returns the problem; until it is solved nothing can be changed. Null: done */
  async takeBack(): Promise<string | null> {
    const { state, store, backend } = this.#parts
    const taken = await store.takeOver()
    if (!taken.ok) return taken.message
    await backend.publish(taken.ops)
    state.isUnderWay = false
    return null
  }

  /** Accepts no new connections, and obeys the successor from now on. */
  async drain(channel: Channel<ToPredecessor, ToSuccessor>): Promise<Drain> {
    const { state, folder, api, backend, lines, version, rest } = this.#parts
    state.isOver = true
    folder.lock?.leave()
    await backend.drain()
    // Server.close of HTTP would also close kept connections, on which a request may be on its way.
    Server.prototype.close.call(api.server)
    setTimeout(() => api.server.closeIdleConnections(), LINGER_MS).unref()
    rest()
    lines.turn((text, count) => channel.send({ type: 'log', text, lines: count }))
    return new Drain(channel, backend, version)
  }

  /** Open connections of this process. */
  get connections(): number {
    return this.#parts.backend.connections()
  }

  unlock(): void {
    this.#parts.folder.lock?.unlock()
  }
}
