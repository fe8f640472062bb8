import type { RawSocket } from './socket-types.ts'

/** What a waiting connection pays per round. A connection that read more waits for more rounds. */
const QUANTUM = 16_384
/** Interval of rounds. No timer runs while no connection waits. */
const TICK_MS = 20
/** How much of the speed may be used at once after silence. */
const BURST_MS = 100
/** Smallest bucket, because smaller chunks would cost more work than bytes. */
const LEAST_BURST = 65_536
/** First bytes are read before the user is known, so a bucket may go into debt, up to this time. */
const MAX_DEBT_MS = 10_000

/** The part of a socket used here. */
type Reader = Pick<RawSocket, 'destroyed' | 'hold' | 'release'>

/** One direction of one user's speed. */
class Bucket {
  readonly #wait: (bucket: Bucket) => void
  /** Bytes per millisecond. */
  #rate: number
  #left: number
  /** Allowance of datagrams while connections wait, refilled at half of the rate. */
  #leftForDatagrams = 0
  #at = performance.now()
  /** Held connections, in order of arrival, each with the bytes it still has to pay for. */
  readonly #waiting = new Map<Reader, number>()
  /** Bytes since the last `takeTaken`. */
  #taken = 0

  constructor(rate: number, wait: (bucket: Bucket) => void) {
    this.#rate = rate
    this.#left = this.#burst
    this.#wait = wait
  }

  get #burst(): number {
    return Math.max(LEAST_BURST, this.#rate * BURST_MS)
  }

  set rate(rate: number) {
    this.#refill()
    this.#rate = rate
    this.#left = Math.min(this.#left, this.#burst)
  }

  takeTaken(): number {
    const taken = this.#taken
    this.#taken = 0
    return taken
  }

  #refill(): void {
    const now = performance.now()
    const added = (now - this.#at) * this.#rate
    this.#left = Math.min(this.#burst, this.#left + added)
    this.#leftForDatagrams = Math.min(this.#burst / 2, this.#leftForDatagrams + added / 2)
    this.#at = now
  }

  /** A socket begins to read. If nothing is left, it is held. */
  begin(socket: Reader): void {
    this.#refill()
    if (this.#left >= 0 && this.#waiting.size === 0) return
    this.#waiting.set(socket, 0)
    socket.hold()
    this.#wait(this)
  }

  get isOverdrawn(): boolean {
    this.#refill()
    return this.#left < -this.#rate * MAX_DEBT_MS
  }

  /** Counts a read. If it exceeds the allowance, or others wait already, the socket is held. */
  take(socket: Reader, bytes: number): void {
    this.#refill()
    this.#left -= bytes
    this.#taken += bytes
    if (this.#left >= 0 && this.#waiting.size === 0) return
    if (socket.destroyed) return
    this.#waiting.set(socket, bytes)
    socket.hold()
    this.#wait(this)
  }

  /** Counts bytes if they may pass at once: all that is left, or half of the rate while connections wait. */
  takeNow(bytes: number): boolean {
    this.#refill()
    if ((this.#waiting.size > 0 ? this.#leftForDatagrams : this.#left) < 0) return false
    // While no connection waits, datagrams must not build up a debt for later.
    this.#leftForDatagrams = Math.max(-QUANTUM, this.#leftForDatagrams - bytes)
    this.#left -= bytes
    this.#taken += bytes
    return true
  }

  /** Releases the sockets whose turn it is, for one chunk each. @returns whether any still wait */
  turn(): boolean {
    this.#refill()
    let budget = this.#left
    for (const [socket, debt] of this.#waiting) {
      if (socket.destroyed) this.#waiting.delete(socket)
      else if (budget <= 0) break
      else {
        // Moves to the end of the line. If this loop visits it again, it pays again.
        this.#waiting.delete(socket)
        if (debt > QUANTUM) this.#waiting.set(socket, debt - QUANTUM)
        else {
          budget -= QUANTUM
          socket.release()
        }
      }
    }
    return this.#waiting.size > 0
  }

  /** Releases all waiting connections. */
  end(): void {
    for (const socket of this.#waiting.keys()) socket.release()
    this.#waiting.clear()
  }
}

/** The speed of one user, in both directions, shared by its connections. */
export class UserSpeed {
  readonly up: Bucket
  readonly down: Bucket
  #mbps: number
  #part = 1

  constructor(mbps: number, wait: (bucket: Bucket) => void) {
    this.#mbps = mbps
    this.up = new Bucket(this.#rate, wait)
    this.down = new Bucket(this.#rate, wait)
  }

  /** Bytes per millisecond for this process. */
  get #rate(): number {
    return this.#mbps * 125 * this.#part
  }

  /** @param part this process' part of the speed */
  set(mbps: number, part: number = this.#part): void {
    this.#mbps = mbps
    this.#part = part
    this.up.rate = this.#rate
    this.down.rate = this.#rate
  }

  /** The debt is too large for a new connection. */
  get isOverdrawn(): boolean {
    return this.up.isOverdrawn || this.down.isOverdrawn
  }

  share(part: number): void {
    if (part !== this.#part) this.set(this.#mbps, part)
  }

  /** The used part of the whole speed since the last call, `ms` milliseconds ago. */
  takeUse(ms: number): number {
    return Math.max(this.up.takeTaken(), this.down.takeTaken()) / (this.#mbps * 125 * ms)
  }
}

/** This process' part of a shared speed: what others leave, and at least an even part, so that all converge within seconds. */
export const partOf = (usedElsewhere: number, processesElsewhere: number): number =>
  Math.max(1 / (1 + processesElsewhere), 1 - usedElsewhere)

/** The speeds of all limited users in one process. */
export class SpeedLimits {
  readonly #users = new Map<string, UserSpeed>()
  readonly #waiting = new Set<Bucket>()
  #timer: NodeJS.Timeout | null = null

  /** The speed shared by all connections of a user. It outlives them, or each new connection would start with a full bucket. */
  of(user: string, mbps: number): UserSpeed {
    let speed = this.#users.get(user)
    if (speed === undefined) this.#users.set(user, (speed = new UserSpeed(mbps, this.#wait)))
    return speed
  }

  get users(): IterableIterator<[string, UserSpeed]> {
    return this.#users.entries()
  }

  /** Changes a user's speed. Undefined: no limit. */
  change(user: string, mbps: number | undefined): void {
    const speed = this.#users.get(user)
    if (speed === undefined) return
    if (mbps !== undefined) speed.set(mbps)
    else this.forget(user)
  }

  share(user: string, part: number): void {
    this.#users.get(user)?.share(part)
  }

  /** Removes a user's limit. */
  forget(user: string): void {
    const speed = this.#users.get(user)
    this.#users.delete(user)
    speed?.up.end()
    speed?.down.end()
  }

  readonly #wait = (bucket: Bucket): void => {
    this.#waiting.add(bucket)
    this.#timer ??= setInterval(() => this.#turn(), TICK_MS).unref()
  }

  #turn(): void {
    for (const bucket of this.#waiting) if (!bucket.turn()) this.#waiting.delete(bucket)
    if (this.#waiting.size === 0) this.close()
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }
}
