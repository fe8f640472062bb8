import type { RawSocket } from './raw-socket.ts'

/** What a waiting connection pays in one round: who read more waits for more rounds. */
const QUANTUM = 16_384
/** How often waiting connections are looked at. Nothing runs while none waits. */
const TICK_MS = 20
/** How much of the speed may be used at once, after silence. */
const BURST_MS = 100
/** A bucket holds at least this much: smaller pieces would cost more than they carry. */
const LEAST_BURST = 65_536
/** What new connections bring along is read before it is known whose they are: so much of it may be owed, in time. */
const MAX_DEBT_MS = 10_000

/** What is known here of a connection. */
type Reader = Pick<RawSocket, 'destroyed' | 'hold' | 'release'>

/** One direction of one user. */
class Bucket {
  readonly #wait: (bucket: Bucket) => void
  /** Bytes per millisecond. */
  #rate: number
  #left: number
  /** What datagrams may take while connections wait: refilled with half of the rate. */
  #leftNow = 0
  #at = performance.now()
  /** Connections that may not read at present, first come first, with what each read beyond its share. */
  readonly #waiting = new Map<Reader, number>()
  /** Bytes since they were last asked for. */
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

  /** Bytes since the last call. */
  takeTaken(): number {
    const taken = this.#taken
    this.#taken = 0
    return taken
  }

  #refill(): void {
    const now = performance.now()
    const added = (now - this.#at) * this.#rate
    this.#left = Math.min(this.#burst, this.#left + added)
    this.#leftNow = Math.min(this.#burst / 2, this.#leftNow + added / 2)
    this.#at = now
  }

  /** A socket begins to read: where nothing is left, it waits for its turn. */
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

  /** Counts what a socket has read. Where it was too much, or others wait already, the socket waits for its turn. */
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

  /** Counts bytes where they may pass at once: all that is left, and half of the rate while connections wait for their turn. */
  takeNow(bytes: number): boolean {
    this.#refill()
    if ((this.#waiting.size > 0 ? this.#leftNow : this.#left) < 0) return false
    // What is taken while nobody waits is no debt for later.
    this.#leftNow = Math.max(-QUANTUM, this.#leftNow - bytes)
    this.#left -= bytes
    this.#taken += bytes
    return true
  }

  /** Lets those read whose turn it is, each a piece. @returns whether anyone waits still */
  turn(): boolean {
    this.#refill()
    let budget = this.#left
    for (const [socket, debt] of this.#waiting) {
      if (socket.destroyed) this.#waiting.delete(socket)
      else if (budget <= 0) break
      else {
        // To the end of the line; one that is visited again in this loop pays again.
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

  /** Nobody waits any more. */
  end(): void {
    for (const socket of this.#waiting.keys()) socket.release()
    this.#waiting.clear()
  }
}

/** The speed of one user: both directions, each shared by its connections. */
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

  /** @param part of the speed, for this process */
  set(mbps: number, part: number = this.#part): void {
    this.#mbps = mbps
    this.#part = part
    this.up.rate = this.#rate
    this.down.rate = this.#rate
  }

  /** More is owed than a new connection may add to. */
  get isOverdrawn(): boolean {
    return this.up.isOverdrawn || this.down.isOverdrawn
  }

  share(part: number): void {
    if (part !== this.#part) this.set(this.#mbps, part)
  }

  /** The share of a whole speed that was used since the last call, which was so many milliseconds ago. */
  takeUse(ms: number): number {
    return Math.max(this.up.takeTaken(), this.down.takeTaken()) / (this.#mbps * 125 * ms)
  }
}

/**
 * A process' part of a speed of which others use something: what they leave, and an even part at least, so that each comes to its own
 * within some seconds.
 */
export const partOf = (usedElsewhere: number, processesElsewhere: number): number =>
  Math.max(1 / (1 + processesElsewhere), 1 - usedElsewhere)

/** The speeds of all users that have one, in one process. */
export class SpeedLimits {
  readonly #users = new Map<string, UserSpeed>()
  readonly #waiting = new Set<Bucket>()
  #timer: NodeJS.Timeout | null = null

  /**
   * The speed of a user, the same for all its connections, also of those that follow on each other: kept while the user has
   * one, or each new connection would begin with a full bucket.
   */
  of(user: string, mbps: number): UserSpeed {
    let speed = this.#users.get(user)
    if (speed === undefined) this.#users.set(user, (speed = new UserSpeed(mbps, this.#wait)))
    return speed
  }

  get users(): IterableIterator<[string, UserSpeed]> {
    return this.#users.entries()
  }

  /** The user has another speed, or none (undefined). */
  change(user: string, mbps: number | undefined): void {
    const speed = this.#users.get(user)
    if (speed === undefined) return
    if (mbps !== undefined) speed.set(mbps)
    else this.forget(user)
  }

  share(user: string, part: number): void {
    this.#users.get(user)?.share(part)
  }

  /** The user has no limit any more. */
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
