import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentTrafficChanges } from '@netlet/contract/agent'
import { parseAddress, parsePrefixes, RangeSet } from '../net/ip.ts'
import { type Counter, noTraffic, type TrafficRow } from '../proxy/traffic-meter.ts'
import { nextTurn } from '../turns.ts'
import { type Quota, Quotas, type SavedQuota } from './quotas.ts'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

type Entry<T> = { seq: number; of: T }

/** Entries added before outdated ones are removed. */
const SPARE = 1000

/** Items in the order of their last change. A page is found without a scan of all items. */
class ChangeLog<T extends { seq: number }> {
  #entries: Array<Entry<T>> = []
  /** Entries after the last cleanup. */
  #size = 0

  /** Moves an item to the end. `seq` must be the largest so far; earlier entries of the item become outdated. */
  push(seq: number, of: T): void {
    this.#entries.push({ seq, of })
    if (this.#entries.length < 2 * this.#size + SPARE) return
    this.#entries = this.#entries.filter(isCurrent)
    this.#size = this.#entries.length
  }

  /** Up to `limit` items that changed after `from` and up to `upTo`. `last` is the seq of the last one. */
  after(from: number, { limit, upTo }: { limit: number; upTo: number }): { found: T[]; last: number; more: boolean } {
    const found: T[] = []
    let last = from
    for (let at = this.#firstAfter(from); ; at++) {
      const entry = this.#entries[at]
      if (entry === undefined || entry.seq > upTo) return { found, last, more: false }
      if (!isCurrent(entry)) continue
      if (found.length === limit) return { found, last, more: true }
      found.push(entry.of)
      last = entry.seq
    }
  }

  #firstAfter(from: number): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#entries[middle]?.seq ?? 0) > from) high = middle
      else low = middle + 1
    }
    return low
  }
}

const isCurrent = <T extends { seq: number }>({ seq, of }: Entry<T>): boolean => of.seq === seq

type Total = Counter & {
  since: string
  changed: number
  /** The row in the file, or in the save under way. Null: never saved. */
  saved: SavedRow | null
  dirty: boolean
  /** The position of `saved` in the order of changes. */
  seq: number
}

/** A user's present lease. Undefined: no such user. */
export type LeaseOf = (user: string) => { prefixes: readonly string[]; quota?: Quota | undefined } | undefined

/** How long rows of an ended lease are kept. */
const KEEP_REMOVED_MS = 24 * 3600 * 1000
/** Rows processed in one turn of the loop, in about half a millisecond. */
const ROWS_A_TURN = 500
/** Saving takes at most this share of the time. */
const SAVING_SHARE = 0.02
const SUMS = ['up', 'down', 'requests', 'errors', 'connections'] as const

/** Total traffic per user and address. Counters survive restarts. */
export class TrafficTotals {
  readonly #path: string
  readonly #now: () => number
  readonly #totals = new Map<string, Map<string, Total>>()
  readonly #all = { up: 0, down: 0, requests: 0, errors: 0 }
  readonly #log = new ChangeLog<Total>()
  readonly #quotas: Quotas
  #epoch: string
  #dirty = true
  #seq = 0
  /** The file contains everything up to this position. Nothing beyond it is reported. */
  #durable = 0
  /** The furthest position that was reported, or may have been by an earlier process. Later changes get a new one. */
  #told = 0
  /** Newer figures of rows that keep their positions, until the file has them. */
  #unsavedRows: { total: Total; saved: SavedRow }[] = []
  #saving: Promise<void> = Promise.resolve()
  /** The last write failed. */
  isFailing = false
  /** Earliest time of the next regular save (`performance.now()`). */
  #nextSaveAt = 0
  /** Decides which rows stay, and gives quotas. All rows stay until it is set. */
  leaseOf: LeaseOf | null = null

  private constructor(path: string, now: () => number, epoch: string) {
    this.#path = path
    this.#now = now
    this.#epoch = epoch
    this.#quotas = new Quotas(user => this.leaseOf?.(user)?.quota)
  }

  /** Reads the saved counters. If they are missing or unreadable, counting starts again with a new epoch. */
  static async open(folder: string, now: () => number): Promise<TrafficTotals> {
    const path = join(folder, 'traffic.json')
    const totals = new TrafficTotals(path, now, randomBytes(8).toString('hex'))
    try {
      totals.#load(await readTrafficFile(path))
    } catch {
      // Lost counters must not prevent a start. The new epoch informs the console.
    }
    return totals
  }

  #load({ epoch, rows, quotas }: TrafficFile): void {
    // Rows of older agents have no seq. They come first, in the order of the file, which is the same at each start.
    const inOrder = rows.toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0))
    for (const row of inOrder) {
      const seq = (this.#seq = Math.max(this.#seq + 1, row.seq ?? 0))
      const { user, ip, since, changed, codes } = row
      const total: Total = { ...noTraffic(), since, changed, saved: row, dirty: false, seq, codes: null }
      if (codes !== undefined) total.codes = { ...codes }
      for (const name of SUMS) total[name] = row[name] ?? 0
      this.#of(user).set(ip, total)
      this.#log.push(seq, total)
    }
    this.#quotas.load(quotas)
    this.#durable = this.#seq
    this.#told = this.#seq
    this.#epoch = epoch
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
      let total = addresses.get(row.ip)
      if (total === undefined) {
        total = { ...noTraffic(), since, changed: now, saved: null, dirty: true, seq: -1 }
        addresses.set(row.ip, total)
      }
      for (const name of SUMS) total[name] += row[name]
      for (const code in row.codes) {
        total.codes ??= {}
        total.codes[code] = (total.codes[code] ?? 0) + (row.codes[code] ?? 0)
      }
      total.changed = now
      total.dirty = true
      this.#quotas.add(row.user, row.up + row.down)
      this.#dirty = true
    }
  }

  /** Traffic of all users since this process started. It only rises. */
  get all(): { up: number; down: number; requests: number; errors: number } {
    return { ...this.#all }
  }

  /** Users whose quota is used up, as `user id`. Null: no change since the last call. */
  takeSpent(): string[] | null {
    return this.#quotas.takeSpent()
  }

  /** Saves, then opens the file for reading. Reported figures are durable, so they never shrink, even after a crash. */
  async report(): Promise<FileHandle> {
    await this.save()
    return open(this.#path, 'r')
  }

  /** Whether the cursor has everything that is durable. */
  isTold({ epoch, after }: { epoch: string; after: number }): boolean {
    return epoch === this.#epoch && after === this.#durable
  }

  /**
   * Rows of the file that changed since `after`, in the order of their changes. It starts from the beginning for a cursor of another
   * epoch, or one beyond this file (an older copy was restored).
   */
  changes({ epoch, after, limit }: { epoch: string; after: number; limit: number }): AgentTrafficChanges {
    const from = epoch === this.#epoch && after <= this.#durable ? after : 0
    const { found, last, more } = this.#log.after(from, { limit, upTo: this.#durable })
    const rows = found.flatMap(({ saved }) => {
      if (saved === null) return []
      const { user, ip, since, changed, up, down, requests, errors } = saved
      return [
        {
          user,
          ip,
          since,
          changed: new Date(changed).toISOString(),
          up,
          down,
          requests,
          errors,
          connections: saved.connections ?? 0,
          codes: saved.codes ?? {}
        }
      ]
    })
    const cursor = more ? last : this.#durable
    this.#told = Math.max(this.#told, cursor)
    return { epoch: this.#epoch, cursor, more, rows }
  }

  /** A regular save. With more rows, saves become rarer. */
  async saveSometimes(): Promise<void> {
    if (performance.now() >= this.#nextSaveAt) await this.save()
  }

  /**
   * Writes the figures if they changed, and drops rows whose lease ended more than a day ago.
   * @throws Error of the file system
   */
  async save(): Promise<void> {
    if (this.#dirty) {
      this.#dirty = false
      const before = this.#saving
      this.#saving = (async () => {
        await before.catch(() => {})
        try {
          await this.#write()
          this.isFailing = false
        } catch (error) {
          this.isFailing = true
          this.#dirty = true
          for (const { total } of this.#unsavedRows.splice(0)) total.dirty = true
          await rm(`${this.#path}.new`, { force: true }).catch(() => {})
          throw error
        }
      })()
    }
    await this.#saving
  }

  trySave(): Promise<boolean> {
    return this.save().then(
      () => true,
      () => false
    )
  }

  /**
   * Saves until the file has everything that was reported, for a process that takes over. A row reported during a write may
   * have changed since, and reaches the console only if it is written again with a later position.
   */
  async settle(): Promise<void> {
    do await this.save()
    while (this.#dirty)
  }

  async #write(): Promise<void> {
    const file = await open(`${this.#path}.new`, 'w', 0o600)
    let busy = 0
    try {
      await file.write(headOf(this.#epoch))
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
        await file.write(separator + texts.join(ROW_END))
        separator = ROW_END
        await nextTurn()
      }
      await file.write(tailOf(this.#quotas.saved()))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${this.#path}.new`, this.#path)
    for (const { total, saved } of this.#unsavedRows.splice(0)) {
      total.saved = saved
      // It was reported during the write with older figures, so it must be reported again.
      if (total.seq <= this.#told) this.#dirty = total.dirty = true
    }
    this.#durable = this.#seq
    this.#nextSaveAt = performance.now() + busy / SAVING_SHARE
  }

  /** All rows to save. Drops rows whose lease ended. */
  *#rows(): Generator<SavedRow> {
    const before = this.#now() - KEEP_REMOVED_MS
    for (const [user, addresses] of this.#totals) {
      let leased: RangeSet | null = null
      for (const [ip, total] of addresses) {
        if (total.changed < before && this.leaseOf !== null) {
          leased ??= rangesOf(this.leaseOf(user)?.prefixes)
          const address = parseAddress(ip)
          if (address === null || !leased.has(address)) {
            addresses.delete(ip)
            total.seq = -1
            continue
          }
        }
        yield this.#toSave(user, ip, total)
      }
      if (addresses.size === 0) this.#totals.delete(user)
    }
  }

  /**
   * A reported row that changed gets a new position. A row that waits to be reported keeps its position: if more
   * rows change than one reply takes, those already reported would overtake it again and again.
   */
  #toSave(user: string, ip: string, total: Total): SavedRow {
    if (!total.dirty && total.saved !== null) return total.saved
    const { since, changed, up, down, requests, errors, connections, codes } = total
    const waits = total.saved !== null && total.seq > this.#told
    total.dirty = false
    const seq = waits ? total.seq : ++this.#seq
    const saved: SavedRow = { user, ip, since, changed, up, down, requests, errors, connections, seq }
    if (codes !== null) saved.codes = { ...codes }
    if (waits) this.#unsavedRows.push({ total, saved })
    else {
      total.seq = seq
      total.saved = saved
      this.#log.push(seq, total)
    }
    return saved
  }
}

function rangesOf(texts: readonly string[] | undefined): RangeSet {
  const parsed = parsePrefixes(texts ?? [])
  return new RangeSet(parsed.ok ? parsed.prefixes : [])
}

/** A row of the file. `seq` rises with each save that changed the row. */
export type SavedRow = Omit<Counter, 'codes'> & {
  user: string
  ip: string
  since: string
  changed: number
  codes?: Record<string, number>
  seq?: number
}
export type TrafficFile = { epoch: string; rows: SavedRow[]; quotas: SavedQuota[] }

/** Text before and after the rows. No row contains it, because quotes in a row's texts are escaped. */
const headOf = (epoch: string): string => `{"format":1,"epoch":${JSON.stringify(epoch)},"rows":[`
const ROW_END = ',\n'
const QUOTAS = '],"quotas":'
const tailOf = (quotas: readonly SavedQuota[]): string => `${QUOTAS}${JSON.stringify(quotas)}}\n`

const HEAD = /^\{"format":1,"epoch":("(?:[^"\\]|\\.)*"),"rows":\[/

/**
 * Reads a traffic file in pieces, because it may exceed the longest possible string.
 * @throws Error if it is missing or incomplete
 */
async function readTrafficFile(path: string): Promise<TrafficFile> {
  const rows: SavedRow[] = []
  let epoch: string | null = null
  let quotas: SavedQuota[] | null = null
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    let text = line
    if (epoch === null) {
      const [head = '', name] = HEAD.exec(line) ?? []
      if (name === undefined) throw new Error('another format')
      epoch = JSON.parse(name) as string
      text = line.slice(head.length)
    }
    const end = text.indexOf(QUOTAS)
    if (end >= 0) quotas = (JSON.parse(`{${text.slice(end + 2)}`) as { quotas: SavedQuota[] }).quotas
    // Older files have no quotas.
    else if (text.endsWith(']}')) quotas = []
    const found = end >= 0 ? text.slice(0, end) : quotas === null ? text.replace(/,$/, '') : text.slice(0, -2)
    for (const row of JSON.parse(`[${found}]`) as SavedRow[]) rows.push(row)
  }
  if (epoch === null || quotas === null) throw new Error('not whole')
  return { epoch, rows, quotas }
}
