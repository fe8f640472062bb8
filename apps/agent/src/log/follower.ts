import type { AgentLogLines } from '@netlet/contract/agent-live'

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
