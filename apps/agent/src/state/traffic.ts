import { randomBytes } from 'node:crypto'
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAddress, parsePrefixes, RangeSet } from '../net/ip.ts'
import type { TrafficRow } from '../proxy/traffic-meter.ts'
import { nextTurn } from '../turns.ts'

type Total = { since: string; changed: number; up: number; down: number; requests: number; errors: number }
type Saved = { format: 1; epoch: string; rows: Array<Total & { user: string; ip: string }> }

/** The prefixes that a user has at present, undefined for no such user. */
export type LeasedTo = (user: string) => readonly string[] | undefined

/** How long the figures of a lease that is gone are still told. */
const KEEP_REMOVED_MS = 24 * 3600 * 1000
/** Rows that are worked on in one turn of the loop: about half a millisecond. */
const ROWS_A_TURN = 500
/** Saving takes at most this share of the time. */
const SAVING_SHARE = 0.02

/** Bytes and requests per user and address since ever, over restarts. */
export class TrafficTotals {
  readonly #path: string
  readonly #now: () => number
  readonly #totals = new Map<string, Map<string, Total>>()
  readonly #all = { up: 0, down: 0, requests: 0, errors: 0 }
  #epoch: string
  #dirty = true
  #saving: Promise<void> = Promise.resolve()
  /** Not before this time (of `performance.now()`) is it worth saving again. */
  #rests = 0
  /** Whose rows stay; all of them until it is set. */
  leasedTo: LeasedTo | null = null

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
    const since = new Date(now).toISOString()
    for (const row of rows) {
      for (const name of ['up', 'down', 'requests', 'errors'] as const) this.#all[name] += row[name]
      const addresses = this.#of(row.user)
      const total = addresses.get(row.ip)
      if (total === undefined) {
        const { up, down, requests, errors } = row
        addresses.set(row.ip, { since, changed: now, up, down, requests, errors })
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

  /** What all users together have used since this process started: it only rises. */
  get all(): { up: number; down: number; requests: number; errors: number } {
    return { ...this.#all }
  }

  /**
   * The figures as they are in the file, open for reading: durable before they are told, so that what was once reported
   * never shrinks, whatever happens to the process.
   */
  async report(): Promise<FileHandle> {
    await this.save()
    return open(this.#path, 'r')
  }

  /** Saves from time to time: the more rows there are, the rarer. */
  async saveSometimes(): Promise<void> {
    if (performance.now() >= this.#rests) await this.save()
  }

  /** Writes the figures where they changed since the last time, and forgets those of leases that are gone for a day. */
  async save(): Promise<void> {
    if (this.#dirty) {
      this.#dirty = false
      const before = this.#saving
      this.#saving = (async () => {
        await before.catch(() => {})
        try {
          await this.#write()
        } catch (error) {
          this.#dirty = true
          await rm(`${this.#path}.new`, { force: true }).catch(() => {})
          throw error
        }
      })()
    }
    await this.#saving
  }

  async #write(): Promise<void> {
    const file = await open(`${this.#path}.new`, 'w', 0o600)
    let busy = 0
    try {
      await file.write(`{"format":1,"epoch":${JSON.stringify(this.#epoch)},"rows":[`)
      let separator = ''
      const rows = this.#rows()
      for (;;) {
        const began = performance.now()
        const texts: string[] = []
        for (let row = rows.next(); ; row = rows.next()) {
          if (row.done !== true) texts.push(JSON.stringify(row.value))
          if (row.done === true || texts.length === ROWS_A_TURN) break
        }
        busy += performance.now() - began
        if (texts.length === 0) break
        await file.write(separator + texts.join(',\n'))
        separator = ',\n'
        await nextTurn()
      }
      await file.write(']}\n')
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${this.#path}.new`, this.#path)
    this.#rests = performance.now() + busy / SAVING_SHARE
  }

  /** All rows; those that nobody has any more go on the way. */
  *#rows(): Generator<Saved['rows'][number]> {
    const before = this.#now() - KEEP_REMOVED_MS
    for (const [user, addresses] of this.#totals) {
      let leased: RangeSet | null = null
      for (const [ip, total] of addresses) {
        if (total.changed < before && this.leasedTo !== null) {
          leased ??= rangesOf(this.leasedTo(user))
          const address = parseAddress(ip)
          if (address === null || !leased.has(address)) {
            addresses.delete(ip)
            continue
          }
        }
        yield { user, ip, ...total }
      }
      if (addresses.size === 0) this.#totals.delete(user)
    }
  }
}

function rangesOf(texts: readonly string[] | undefined): RangeSet {
  const parsed = parsePrefixes(texts ?? [])
  return new RangeSet(parsed.ok ? parsed.prefixes : [])
}
