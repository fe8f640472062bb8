/** Names asked for at once: of one user, and of all users. */
const AT_ONCE = 32
const ALL_AT_ONCE = 128
/** A user gets these even if others hold all places: names without an answer hold theirs for seconds. */
const AT_LEAST = 4
/** Waiting names of one user. Further names are not asked for. */
const MAX_WAITING = 1000
/** How long an answer delays its user's next question, for each address beyond the limit. */
const DELAY_MS = 1
const MAX_DELAY_MS = 60_000

/**
 * Asks name servers. It calls back before anyone uses the answer, with the number of addresses beyond the limit.
 * @returns false if the answer is not needed any more, so nothing was asked
 */
type Ask = (answered: (excess: number) => void) => boolean

type Line = { user: string; waiting: Ask[]; asking: number; delayedUntil: number; timer: NodeJS.Timeout | undefined }

/**
 * Shares questions to name servers among users. Parsing the largest answer (64 KB) blocks the loop for about 50 ms and cannot
 * be split. So only few questions run at once, users take turns, and large answers delay their user.
 */
export class LookupTurns {
  readonly #lines = new Map<string, Line>()
  /** Lines that may ask, the next one first. */
  readonly #ready = new Set<Line>()
  #asking = 0

  hasRoom(user: string): boolean {
    return (this.#lines.get(user)?.waiting.length ?? 0) < MAX_WAITING
  }

  /** Asks now or later. It may call `ask` at once; `ask` must not call back synchronously. */
  add(user: string, ask: Ask): void {
    const line = this.#lines.get(user) ?? { user, waiting: [], asking: 0, delayedUntil: 0, timer: undefined }
    this.#lines.set(user, line)
    line.waiting.push(ask)
    this.#next(line)
  }

  #next(line: Line): void {
    this.#place(line)
    for (const ready of this.#ready) {
      if (this.#asking >= ALL_AT_ONCE) break
      this.#step(ready)
    }
    while (this.#ready.has(line) && line.asking < AT_LEAST) this.#step(line)
  }

  /** Puts the line behind the others that may ask, if it is not among them. Or it rests, or is removed once empty. */
  #place(line: Line): void {
    const delay = line.delayedUntil - performance.now()
    if (delay > 0) {
      this.#ready.delete(line)
      line.timer ??= setTimeout(() => {
        line.timer = undefined
        this.#next(line)
      }, Math.ceil(delay)).unref()
    } else if (line.waiting.length > 0 && line.asking < AT_ONCE) this.#ready.add(line)
    else if (line.waiting.length === 0 && line.asking === 0) this.#lines.delete(line.user)
  }

  #step(line: Line): void {
    this.#ready.delete(line)
    if (line.waiting.shift()?.(excess => this.#answered(line, excess)) === true) {
      line.asking++
      this.#asking++
    }
    this.#place(line)
  }

  #answered(line: Line, excess: number): void {
    line.asking--
    this.#asking--
    const now = performance.now()
    line.delayedUntil = Math.min(Math.max(now, line.delayedUntil) + excess * DELAY_MS, now + MAX_DELAY_MS)
    this.#next(line)
  }
}
