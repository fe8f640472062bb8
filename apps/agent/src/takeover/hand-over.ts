import type { FastifyInstance } from 'fastify'
import { Server } from 'node:net'
import { type AgentTakeover, TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import type { Collector } from '../collector.ts'
import type { WriteLines } from '../log/access-log.ts'
import { handleOf, lent } from '../net/listen-handle.ts'
import type { ProxyTls } from '../proxy-tls.ts'
import type { StateFiles } from '../state/files.ts'
import type { Lock } from '../state/lock.ts'
import type { Store } from '../state/store.ts'
import type { Channel } from './channel.ts'
import { Drain } from './drain.ts'
import type { Generations } from './generations.ts'
import type { ToPredecessor, ToSuccessor } from './messages.ts'
import type { Handed } from './predecessor.ts'

/** Kept connections of the management API may have a question on its way. */
const LINGER_MS = 2000

/** Whether the process serves, and what became of the last try to hand over. */
export type HandingOver = {
  /** The file that the process was started from. */
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
  /** Where finished lines of the access log go to. */
  lines: LineSink
  /** Ends what only the process that serves does. */
  rest: () => void
}

/** Takes finished lines of the access log to where they belong at present. */
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

  /** null: they wait. */
  turn(to: WriteLines | null): void {
    this.#to = to
    if (to !== null) for (const [text, lines] of this.#waiting.splice(0)) to(text, lines)
  }
}

/** What the process that serves does, step by step, to be taken over from. */
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

  /** Nobody reads along any more. */
  abandon(): void {
    this.#parts.store.hide()
  }

  /** Changes nothing more, saves everything, and frees the state. The lock is handed over with the sockets: there is no moment without one. */
  async letGo(): Promise<Handed> {
    const { state, folder, host, port, store, files, proxyTls, collector, backend, api, lines } = this.#parts
    state.isUnderWay = true
    await collector.pause()
    lines.turn(null)
    await files.totals.settle()
    await files.owner.settled()
    await proxyTls.settled()
    await files.accessLog.flush()
    await store.release()
    const handle = handleOf(api.server)
    const management = handle === null ? null : lent(host, port, handle)
    const { listeners, open } = await backend.lend()
    return { proxies: listeners, management, lock: folder.lock?.handed ?? null, open }
  }

  /** After the new process is gone: counts and logs again as before `letGo`, however far that came. */
  goOn(): void {
    const { collector, lines } = this.#parts
    lines.turn(this.#own)
    collector.start()
  }

  /** Takes the state back. @returns why that cannot be; then nothing can be changed */
  async takeBack(): Promise<string | null> {
    const { state, store, backend } = this.#parts
    const taken = await store.takeOver()
    if (!taken.ok) return taken.message
    await backend.publish(taken.ops)
    state.isUnderWay = false
    return null
  }

  /** Takes no new connections, and does from now on what the new process says. */
  async drain(channel: Channel<ToPredecessor, ToSuccessor>): Promise<Drain> {
    const { state, folder, api, backend, lines, version, rest } = this.#parts
    state.isOver = true
    folder.lock?.leave()
    await backend.drain()
    // Of its own, the API's server would close kept connections, too, on which a question may be on its way.
    Server.prototype.close.call(api.server)
    setTimeout(() => api.server.closeIdleConnections(), LINGER_MS).unref()
    rest()
    lines.turn((text, count) => channel.send({ type: 'log', text, lines: count }))
    return new Drain(channel, backend, version)
  }

  /** Connections that are open here. */
  get connections(): number {
    return this.#parts.backend.connections()
  }

  unlock(): void {
    this.#parts.folder.lock?.unlock()
  }
}
