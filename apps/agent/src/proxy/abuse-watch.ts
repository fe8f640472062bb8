import type { AgentCode } from '@netlet/contract/agent-codes'
import type { AbuseKind } from '@netlet/contract/agent-live'
import { LRUCache } from 'lru-cache'

/** Events a minute that count as a sign of abuse. */
export type AbuseLimits = Record<AbuseKind, number>
export const defaultAbuseLimits: AbuseLimits = { scan: 300, flood: 6000, mail: 30, guessing: 120 }

/** One sign. `count` is that of the present minute. */
export type AbuseSign = { kind: AbuseKind; user: string; subject: string; count: number }

const WINDOW_MS = 60_000
/** Users and targets watched at once. The least recently seen are forgotten. */
const MAX_USERS = 5000
const MAX_TARGETS = 20_000
/** Signs that wait for `take`. */
const MAX_SIGNS = 200

/** Log notes of requests whose target was not there. */
const MISSED: ReadonlySet<string> = new Set<AgentCode>([
  'refused',
  'unreachable',
  'connect-timeout',
  'not-found',
  'dns-timeout',
  'refused-range',
  'no-answer'
])

type Seen = { targets: Set<string>; mail: number; wrong: number }

/** Detects signs of abuse in one process, minute by minute, in bounded memory. */
export class AbuseWatch {
  readonly #limits: AbuseLimits
  readonly #users = new LRUCache<string, Seen>({ max: MAX_USERS })
  readonly #dialled = new LRUCache<string, { count: number }>({ max: MAX_TARGETS })
  #signs = new Map<string, AbuseSign>()
  #until = 0

  constructor(limits: AbuseLimits) {
    this.#limits = limits
  }

  /** A request of a user ended. */
  ended(user: string, target: string, note: AgentCode, now: number): void {
    if (note === 'ok') return
    if (note === 'refused-port') {
      const seen = this.#of(user, now)
      this.#judge('mail', user, target, ++seen.mail)
    } else if (MISSED.has(note)) {
      const { targets } = this.#of(user, now)
      // More targets would change nothing.
      if (targets.size < this.#limits.scan * 4) targets.add(target)
      this.#judge('scan', user, target, targets.size)
    }
  }

  /** A connection to a target begins, or a datagram goes to a target that has not answered. */
  dials(user: string, target: string, now: number): void {
    this.#turn(now)
    const key = `${user} ${target}`
    let dialled = this.#dialled.get(key)
    if (dialled === undefined) this.#dialled.set(key, (dialled = { count: 0 }))
    this.#judge('flood', user, target, ++dialled.count)
  }

  /** A wrong password for an existing user. */
  wrongPassword(user: string, client: string, now: number): void {
    const seen = this.#of(user, now)
    this.#judge('guessing', user, client, ++seen.wrong)
  }

  #of(user: string, now: number): Seen {
    this.#turn(now)
    let seen = this.#users.get(user)
    if (seen === undefined) this.#users.set(user, (seen = { targets: new Set(), mail: 0, wrong: 0 }))
    return seen
  }

  #turn(now: number): void {
    if (now < this.#until) return
    this.#until = now + WINDOW_MS
    this.#users.clear()
    this.#dialled.clear()
  }

  #judge(kind: AbuseKind, user: string, subject: string, count: number): void {
    if (count < this.#limits[kind]) return
    const key = `${kind} ${user}`
    if (!this.#signs.has(key) && this.#signs.size >= MAX_SIGNS) return
    this.#signs.set(key, { kind, user, subject: subject.slice(0, 300), count })
  }

  take(): AbuseSign[] {
    if (this.#signs.size === 0) return []
    const signs = [...this.#signs.values()]
    this.#signs = new Map()
    return signs
  }
}
