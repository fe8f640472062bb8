/** Names that one user has asked for at once, and all together. */
const AT_ONCE = 32
const ALL_AT_ONCE = 128
/** So many of a user are asked for whatever others have: names without an answer keep their places for seconds. */
const AT_LEAST = 4
/** Names of one user that wait; more are not asked for. */
const MAX_WAITING = 1000
/** What an answer with more addresses than are kept costs its user: so long nothing more is asked for them, for each address. */
const REST_MS = 1
const MAX_REST_MS = 60_000

/**
 * Asks name servers, and calls back with how many addresses of the answer were too many, before anybody goes on by it.
 * @returns whether it asks: nobody may need it any more
 */
type Ask = (answered: (excess: number) => void) => boolean

type Line = { user: string; waiting: Ask[]; asking: number; restsUntil: number; timer: NodeJS.Timeout | undefined }

/**
 * Divides questions to name servers among users. To take in the largest answer, of 64 KB, holds up the loop for about 50 ms, and
 * cannot be divided: so few are on their way at once, users have theirs by turns, and whose names have such answers asks
 * seldom.
 */
export class LookupTurns {
  readonly #lines = new Map<string, Line>()
  /** Lines that may ask; the one whose turn is next comes first. */
  readonly #ready = new Set<Line>()
  #asking = 0

  hasRoom(user: string): boolean {
    return (this.#lines.get(user)?.waiting.length ?? 0) < MAX_WAITING
  }

  /** Asks now or later. May call `ask` within this call, which must not call back within its own. */
  add(user: string, ask: Ask): void {
    const line = this.#lines.get(user) ?? { user, waiting: [], asking: 0, restsUntil: 0, timer: undefined }
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

  /** Puts a line behind all others that may ask, where it is not among them; or it waits for its time, or is over. */
  #place(line: Line): void {
    const rest = line.restsUntil - performance.now()
    if (rest > 0) {
      this.#ready.delete(line)
      line.timer ??= setTimeout(() => {
        line.timer = undefined
        this.#next(line)
      }, Math.ceil(rest)).unref()
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
    line.restsUntil = Math.min(Math.max(now, line.restsUntil) + excess * REST_MS, now + MAX_REST_MS)
    this.#next(line)
  }
}
