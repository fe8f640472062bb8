import type { AgentLogLines } from '@netlet/contract/agent-live'

/** Lines that are kept for those who follow, and characters of each. */
const KEPT = 2000
const LONGEST = 2000
/** Nobody has asked for so long: nothing is kept any more. */
const AWAY_MS = 20_000

export type LogFilter = { user?: string | undefined; address?: string | undefined; status?: string | undefined }

/** The newest lines of the access log, kept only while somebody follows it. */
export class LogFollower {
  #lines: string[] = []
  /** The number of the line before the first one that is kept. */
  #before = 0
  #askedAt = -Infinity

  /** Takes finished lines, joined by line ends. */
  add(text: string, count: number): void {
    if (performance.now() - this.#askedAt > AWAY_MS) {
      this.#before += this.#lines.length + count
      this.#lines = []
      return
    }
    for (const line of text.split('\n')) this.#lines.push(line.slice(0, LONGEST))
    const over = this.#lines.length - KEPT
    // Seldom, and many at once: what is dropped need not be exact.
    if (over > KEPT / 2) {
      this.#lines = this.#lines.slice(over)
      this.#before += over
    }
  }

  /** The lines after number `after` that match, at most `limit`; 0 begins with what is kept. */
  read(after: number, { user, address, status }: LogFilter, limit: number): AgentLogLines {
    this.#askedAt = performance.now()
    const last = this.#before + this.#lines.length
    // A number of before a restart is none of ours.
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
