import type { AgentTraffic } from '@netlet/contract/agent'
import { randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { TrafficRow } from '../proxy/traffic-meter.ts'

type Total = { since: string; changed: number; up: number; down: number; requests: number; errors: number }
type Saved = { format: 1; epoch: string; rows: Array<Total & { user: string; ip: string }> }

/** How long the figures of a lease that is gone are still told. */
const KEEP_REMOVED_MS = 24 * 3600 * 1000

/** Bytes and requests per user and address since ever, over restarts. */
export class TrafficTotals {
  readonly #path: string
  readonly #now: () => number
  readonly #totals = new Map<string, Map<string, Total>>()
  #epoch: string
  #dirty = false
  #saving: Promise<void> = Promise.resolve()

  private constructor(path: string, now: () => number, epoch: string) {
    this.#path = path
    this.#now = now
    this.#epoch = epoch
  }

  /** Reads the saved figures; where they are missing or unreadable, counting starts again under another epoch. */
  static async open(folder: string, now: () => number): Promise<TrafficTotals> {
    const path = join(folder, 'traffic.json')
    const totals = new TrafficTotals(path, now, randomBytes(8).toString('hex'))
    try {
      const saved = JSON.parse(await readFile(path, 'utf8')) as Saved
      if (saved.format !== 1) return totals
      totals.#epoch = saved.epoch
      for (const { user, ip, ...total } of saved.rows) totals.#of(user).set(ip, total)
    } catch {
      // Traffic figures are worth no refusal to start: the new epoch tells the console.
    }
    return totals
  }

  #of(user: string): Map<string, Total> {
    let addresses = this.#totals.get(user)
    if (addresses === undefined) this.#totals.set(user, (addresses = new Map()))
    return addresses
  }

  add(rows: readonly TrafficRow[]): void {
    const now = this.#now()
    for (const row of rows) {
      const addresses = this.#of(row.user)
      const total = addresses.get(row.ip)
      if (total === undefined) {
        const { up, down, requests, errors } = row
        addresses.set(row.ip, { since: new Date(now).toISOString(), changed: now, up, down, requests, errors })
      } else {
        total.up += row.up
        total.down += row.down
        total.requests += row.requests
        total.errors += row.errors
        total.changed = now
      }
      this.#dirty = true
    }
  }

  /** Forgets users that are gone for a day. */
  prune(exists: (user: string) => boolean): void {
    const before = this.#now() - KEEP_REMOVED_MS
    for (const [user, addresses] of this.#totals) {
      if (exists(user)) continue
      for (const [ip, total] of addresses) if (total.changed < before) addresses.delete(ip)
      if (addresses.size === 0) this.#totals.delete(user)
    }
  }

  /** The figures, durable before they are told: what was once reported never shrinks, whatever happens to the process. */
  async report(): Promise<AgentTraffic> {
    const rows = this.#rows()
    const epoch = this.#epoch
    await this.save(rows)
    return {
      epoch,
      rows: rows.map(({ user, ip, since, up, down, requests, errors }) => ({
        user,
        ip,
        since,
        up,
        down,
        requests,
        errors
      }))
    }
  }

  #rows(): Saved['rows'] {
    const rows: Saved['rows'] = []
    for (const [user, addresses] of this.#totals) {
      for (const [ip, total] of addresses) rows.push({ user, ip, ...total })
    }
    return rows
  }

  /** Writes the figures where they changed since the last time. */
  async save(rows?: Saved['rows']): Promise<void> {
    if (this.#dirty) {
      this.#dirty = false
      const text = JSON.stringify({ format: 1, epoch: this.#epoch, rows: rows ?? this.#rows() } satisfies Saved)
      const before = this.#saving
      this.#saving = (async () => {
        await before.catch(() => {})
        try {
          const file = await open(`${this.#path}.new`, 'w', 0o600)
          try {
            await file.writeFile(text)
            await file.sync()
          } finally {
            await file.close()
          }
          await rename(`${this.#path}.new`, this.#path)
        } catch (error) {
          this.#dirty = true
          throw error
        }
      })()
    }
    await this.#saving
  }
}
