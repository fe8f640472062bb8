import type { AgentCode } from '@netlet/contract/agent-codes'
import type { AgentDraining } from '@netlet/contract/agent-takeover'
import type { Shares } from '../proxy/connection-limits.ts'
import { joinParts, type LivePart } from '../proxy/live-connections.ts'
import { addFigures, noFigures, type PlaneFigures } from '../proxy/plane-figures.ts'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import type { Pem } from '../certificate.ts'
import type { AbuseSign } from '../proxy/abuse-watch.ts'
import type { Listener } from '../net/listen-handle.ts'
import type { Op } from '../state/definitions.ts'
import type { Store } from '../state/store.ts'
import type { Backend, BackendFigures, Lent, Started } from '../workers/backend.ts'
import { joinShares } from '../workers/shared-counts.ts'
import type { Predecessor } from './predecessor.ts'

const nothing: Shares = { open: [], speeds: [] }
/** The backend of this process together with its draining predecessor: changes, counts and queries reach both. */
export class Generations implements Backend {
  readonly #own: Backend
  #before: Predecessor | null = null
  /** Deadline of the drain (`performance.now()`). */
  #until = Infinity
  /** Counters of processes that are gone. */
  readonly #gone: PlaneFigures = noFigures()
  #left: TrafficRow[][] = []
  /** Shares of the successor. */
  #after: { shares: Shares; isTogether: boolean } = { shares: nothing, isTogether: false }
  #ending: Promise<void> | null = null
  /** Resolves when a drained process may end: not before the supervisor knows the new main process. */
  mayLeave: Promise<unknown> = Promise.resolve()

  constructor(own: Backend) {
    this.#own = own
  }

  /** Includes a draining predecessor. @param ms how long it may drain */
  follow(before: Predecessor, ms: number): void {
    this.#before = before
    this.#until = performance.now() + ms
    before.keep()
    this.#own.share(joinShares([before.report.shares, this.#after.shares]), true)
  }

  start(store: Store): Promise<Started> {
    return this.#own.start(store)
  }

  prepare(store: Store): Promise<boolean> {
    return this.#own.prepare(store)
  }

  listen(opened: Listener[]): Promise<Started> {
    return this.#own.listen(opened)
  }

  async lend(): Promise<Lent> {
    const { listeners, open } = await this.#own.lend()
    const all = joinShares([{ open, speeds: [] }, this.#before?.report.shares ?? nothing])
    return { listeners, open: all.open }
  }

  /** Takes the predecessor's open connections, before the first connection is accepted here. */
  expect(open: Shares['open']): void {
    this.#own.share({ open, speeds: [] }, true)
  }

  drain(): Promise<void> {
    return this.#own.drain()
  }

  async publish(ops: Op[]): Promise<void> {
    await Promise.all([this.#own.publish(ops), this.#before?.publish(ops)])
  }

  async collect(): Promise<Iterable<TrafficRow[]>> {
    const before = this.#before
    if (before === null) return this.#withLeft(await this.#own.collect())
    const [rows, theirs] = await Promise.all([
      this.#own.collect(),
      before.collect(joinShares([this.#own.shares(), this.#after.shares]))
    ])
    this.#left.push(...theirs)
    this.#own.share(joinShares([before.report.shares, this.#after.shares]), true)
    const isOver = before.report.connections === 0 && before.draining.length <= 1
    if (isOver || performance.now() >= this.#until) void this.#end(before)
    return this.#withLeft(rows)
  }

  #withLeft(rows: Iterable<TrafficRow[]>): Iterable<TrafficRow[]> {
    return [...this.#left.splice(0), ...rows]
  }

  /** Ends the drained process. */
  #end(before: Predecessor): Promise<void> {
    return (this.#ending ??= (async () => {
      this.#left.push(...(await before.cut()))
      await this.mayLeave
      await before.leave()
      this.#before = null
      this.#ending = null
      addFigures(this.#gone, before.report.plane, false)
      this.#own.share(this.#after.shares, this.#after.isTogether)
    })())
  }

  /** Limits how many processes may drain behind this one. */
  keep(most: number): void {
    if (most > 0) this.#before?.keep(most)
    else if (this.#before !== null) void this.#end(this.#before)
  }

  connections(): number {
    return this.#own.connections() + (this.#before?.report.connections ?? 0)
  }

  get ownConnections(): number {
    return this.#own.connections()
  }

  /** Newest first. */
  get draining(): AgentDraining[] {
    return this.#before?.draining ?? []
  }

  secure(pem: Pem | null): void {
    this.#own.secure(pem)
  }

  setSpent(users: string[]): void {
    this.#own.setSpent(users)
    this.#before?.setSpent(users)
  }

  reload(): void {
    this.#own.reload()
    this.#before?.reload()
  }

  figures(): BackendFigures {
    const { plane, processes, restarts } = this.#own.figures()
    const all = addFigures(addFigures(noFigures(), plane, true), this.#gone, false)
    const report = this.#before?.report
    if (report !== undefined) addFigures(all, report.plane, true)
    return { plane: all, processes: [...processes, ...(report?.processes ?? [])], restarts }
  }

  async look(user: string | null, limit: number): Promise<LivePart> {
    const parts = await Promise.all([this.#own.look(user, limit), this.#before?.look(user, limit)])
    return joinParts(
      parts.filter(part => part !== undefined),
      limit
    )
  }

  async end(user: string, connection: string | null): Promise<number> {
    const ended = await Promise.all([this.#own.end(user, connection), this.#before?.end(user, connection)])
    return ended[0] + (ended[1] ?? 0)
  }

  signs(): AbuseSign[] {
    return [...this.#own.signs(), ...(this.#before?.takeSigns() ?? [])]
  }

  shares(): Shares {
    return joinShares([this.#own.shares(), this.#before?.report.shares ?? nothing])
  }

  share(shares: Shares, isTogether: boolean): void {
    this.#after = { shares, isTogether }
    const before = this.#before
    this.#own.share(
      before === null ? shares : joinShares([shares, before.report.shares]),
      isTogether || before !== null
    )
  }

  serving(): { now: number; wanted: number } {
    return this.#own.serving()
  }

  async close(note: AgentCode | null = null): Promise<Iterable<TrafficRow[]>> {
    const before = this.#before
    const [rows] = await Promise.all([this.#own.close(note), before === null ? undefined : this.#end(before)])
    return this.#withLeft(rows)
  }
}
