import { inTurns } from '../turns.ts'
import type { AccessTable, Lease } from './access-table.ts'
import type { ConnectionLimits, Elsewhere, Shares, Surplus } from './connection-limits.ts'
import type { OpenConnections } from './open-connections.ts'
import { partOf, type SpeedLimits } from './speed-limit.ts'

/** Connections ended in one turn of the loop. */
const ENDED_A_TURN = 50
/** Part of a speed above which its use is reported to other processes. */
const REPORTED_SPEED = 0.02

/** Limits that hold over all processes of an agent: what this one reports to the others, and what they report to it. */
export class SharedLimits {
  readonly #counts: ConnectionLimits
  readonly #speeds: SpeedLimits
  readonly #open: OpenConnections
  readonly #leaseOf: (user: string) => Lease | undefined
  #toldAt = performance.now()

  constructor(counts: ConnectionLimits, speeds: SpeedLimits, open: OpenConnections, accessTable: AccessTable) {
    this.#counts = counts
    this.#speeds = speeds
    this.#open = open
    this.#leaseOf = user => accessTable.lease(user)
  }

  /** Everything that other processes must know. */
  report(): Shares {
    return this.#counts.isShared
      ? { open: this.reportableOpen(), speeds: this.reportableSpeeds() }
      : { open: [], speeds: [] }
  }

  /** Use of each speed since the last call, which comes each second. Negligible use is left out. */
  reportableSpeeds(): Shares['speeds'] {
    const now = performance.now()
    const ms = Math.max(1, now - this.#toldAt)
    this.#toldAt = now
    const speeds: Shares['speeds'] = []
    if (!this.#counts.isShared) return speeds
    for (const [user, speed] of this.#speeds.users) {
      const used = Math.min(1, speed.takeUse(ms))
      if (used > REPORTED_SPEED) speeds.push([user, used, 1])
    }
    return speeds
  }

  /** Open connections that other processes must know. @param all includes small counts */
  reportableOpen(all?: boolean): Shares['open'] {
    return this.#counts.toTell(this.#leaseOf, all)
  }

  /** Counts that changed since the last call. */
  reportableChanges(): Shares['open'] {
    return this.#counts.takeChanges(this.#leaseOf)
  }

  /** Whether processes of an older or newer generation share the limits. */
  set isTogether(together: boolean) {
    this.#counts.isTogether = together
  }

  /** @param tell is called when the count of a key with many connections changes */
  onMany(tell: () => void): void {
    this.#counts.onMany = tell
  }

  /** Takes the counts of other processes. @param isWhole whether they are complete */
  setElsewhere(open: readonly Elsewhere[], isWhole: boolean): void {
    const surplus = this.#counts.setElsewhere(open, this.#leaseOf, isWhole)
    if (surplus.length > 0) void this.#endSurplus(surplus)
  }

  /** Takes other processes' use of speeds. Users that are not named use none there. */
  setSpeeds(speeds: Shares['speeds']): void {
    const parts = new Map(speeds.map(([user, used, processes]) => [user, partOf(used, processes)]))
    for (const [user] of this.#speeds.users) this.#speeds.share(user, parts.get(user) ?? 1)
  }

  /** Ends the youngest of too many connections, in several turns of the loop, and informs the other processes. */
  async #endSurplus(surplus: readonly Surplus[]): Promise<void> {
    for (const { kind, key, keep, since, note } of surplus) {
      const among = kind === 'user' ? this.#open.of(key) : this.#open
      // Oldest first.
      const own = [...among].filter(connection => connection.holder?.[kind] === key)
      const young = own.slice(keep).filter(connection => (connection.holder?.since ?? 0) > since)
      await inTurns(young, ENDED_A_TURN, connection => connection.endBecause(note))
    }
    this.#counts.onMany()
  }
}
