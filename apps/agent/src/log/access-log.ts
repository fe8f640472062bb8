import { createReadStream, type ReadStream } from 'node:fs'
import { open, readdir, rename, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentLogLines } from '@netlet/contract/agent-live'

export type AccessLogOptions = {
  folder: string
  /** Size at which a file is rotated. */
  maxBytes: number
  /** How many rotated files are kept. */
  keep: number
  /** Longest wait before lines are written. */
  flushMs: number
}

/** Takes finished lines: one text of `lines` lines, without the final newline. */
export type WriteLines = (text: string, lines: number) => void

/** Characters that may wait for a slow disk. Further lines are counted and dropped, to bound memory. */
const MAX_WAITING = 8 << 20

/** The access log: `access.log`, then `access.log.1` (newest) to `access.log.N`. */
export class AccessLog {
  readonly #options: AccessLogOptions
  readonly #path: string
  #lines: string[] = []
  #waiting = 0
  /** Lines that wait, and lines that were dropped. */
  #count = 0
  #dropped = 0
  /** The last write failed. */
  isFailing = false
  #size = 0
  #queue: Promise<void> = Promise.resolve()
  readonly #timer: NodeJS.Timeout

  private constructor(options: AccessLogOptions, size: number) {
    this.#options = options
    this.#path = join(options.folder, 'access.log')
    this.#size = size
    this.#timer = setInterval(() => void this.flush(), options.flushMs)
    this.#timer.unref()
  }

  static async open(options: AccessLogOptions): Promise<AccessLog> {
    const present = await stat(join(options.folder, 'access.log')).catch(() => null)
    return new AccessLog(options, present?.size ?? 0)
  }

  add(text: string, lines = 1): void {
    if (this.#waiting > MAX_WAITING) {
      this.#dropped += lines
      return
    }
    this.#lines.push(text)
    this.#count += lines
    this.#waiting += text.length + 1
  }

  /** Writes waiting lines. Resolves when they are in the file. A full disk loses lines, never a connection. */
  flush(): Promise<void> {
    if (this.#lines.length > 0 || this.#dropped > 0) this.#enqueue(() => this.#write())
    return this.#queue
  }

  #enqueue(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(work).then(
      () => void (this.isFailing = false),
      () => void (this.isFailing = true)
    )
  }

  async #write(): Promise<void> {
    const lines = this.#lines
    const dropped = this.#dropped
    const count = this.#count
    if (dropped > 0)
      lines.push(`${new Date().toISOString()} - - - dropped ${dropped} lines: the disk is full or too slow`)
    this.#forget()
    this.#dropped = 0
    if (lines.length === 0) return
    const text = `${lines.join('\n')}\n`
    try {
      if (this.#size > 0 && this.#size + text.length > this.#options.maxBytes) await this.#rotate()
      await this.#append(text)
    } catch (error) {
      // The next write reports how many are lost, and shows whether the disk accepts data again.
      this.#dropped += dropped + count
      throw error
    }
  }

  #forget(): void {
    this.#lines = []
    this.#waiting = 0
    this.#count = 0
  }

  async #append(text: string): Promise<void> {
    const file = await open(this.#path, 'a', 0o600)
    try {
      const { size } = await file.stat()
      try {
        await file.writeFile(text)
      } catch (error) {
        // A full disk leaves a torn last line.
        await file.truncate(size).catch(() => {})
        throw error
      }
      this.#size = size + Buffer.byteLength(text)
    } finally {
      await file.close()
    }
  }

  async #rotate(): Promise<void> {
    const { keep } = this.#options
    await rm(`${this.#path}.${keep}`, { force: true })
    for (let n = keep - 1; n >= 1; n--) await rename(`${this.#path}.${n}`, `${this.#path}.${n + 1}`).catch(() => {})
    if (keep > 0) await rename(this.#path, `${this.#path}.1`)
    else await rm(this.#path, { force: true })
    this.#size = 0
  }

  /** Empties the log, rotated files included. */
  async clear(): Promise<void> {
    this.#enqueue(async () => {
      this.#forget()
      const names = await readdir(this.#options.folder)
      for (const name of names) {
        if (/^access\.log\.\d+$/.test(name)) await rm(join(this.#options.folder, name), { force: true })
      }
      await truncate(this.#path).catch(() => {})
      this.#size = 0
    })
    await this.#queue
  }

  /** The whole log, oldest line first. */
  async *read(): AsyncGenerator<Buffer> {
    await this.flush()
    for (let n = this.#options.keep; n >= 0; n--) {
      const path = n === 0 ? this.#path : `${this.#path}.${n}`
      if ((await stat(path).catch(() => null)) === null) continue
      const stream: ReadStream = createReadStream(path)
      for await (const chunk of stream) yield chunk as Buffer
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}

/** Lines kept for followers, and characters kept of each. */
const KEPT = 2000
const LONGEST = 2000
/** Nothing is kept after this time without a reader. */
const AWAY_MS = 20_000

export type LogFilter = { user?: string | undefined; address?: string | undefined; status?: string | undefined }

/** The newest lines of the access log, kept only while someone follows it. */
export class LogFollower {
  #lines: string[] = []
  /** Number of the line before the first kept one. */
  #before = 0
  #askedAt = -Infinity

  /** Takes finished lines, joined by newlines. */
  add(text: string, count: number): void {
    if (performance.now() - this.#askedAt > AWAY_MS) {
      this.#before += this.#lines.length + count
      this.#lines = []
      return
    }
    for (const line of text.split('\n')) this.#lines.push(line.slice(0, LONGEST))
    const over = this.#lines.length - KEPT
    // The limit need not be exact, and dropping many at once is cheap.
    if (over > KEPT / 2) {
      this.#lines = this.#lines.slice(over)
      this.#before += over
    }
  }

  /** Up to `limit` matching lines after number `after`; 0 starts at the oldest kept line. */
  read(after: number, { user, address, status }: LogFilter, limit: number): AgentLogLines {
    this.#askedAt = performance.now()
    const last = this.#before + this.#lines.length
    // A larger number is from before a restart.
    const from = after > last ? this.#before : Math.max(after, this.#before)
    const missed = after === 0 || after > last ? 0 : from - after
    const lines: string[] = []
    let next = from
    for (const line of this.#lines.slice(from - this.#before)) {
      if (lines.length >= limit) break
      next++
      const [, client, of, ip, , target = '', code] = line.split(' ')
      if (user !== undefined && of !== user) continue
      if (address !== undefined && client !== address && ip !== address && !target.startsWith(`${address}:`)) continue
      if (status !== undefined && code?.startsWith(status) !== true) continue
      lines.push(line)
    }
    return { lines, next, missed }
  }
}

/** Formats the time for the access log like `toISOString`, but formats each second only once. */
export class LogTime {
  #second = -1
  /** Up to the point after the seconds. */
  #text = ''

  /** @param now Unix time in milliseconds */
  at(now: number): string {
    const ms = now % 1000
    if (now - ms !== this.#second) {
      this.#second = now - ms
      this.#text = new Date(now).toISOString().slice(0, 20)
    }
    return `${this.#text}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`
  }
}
