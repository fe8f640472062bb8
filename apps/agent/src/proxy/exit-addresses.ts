import { createHmac, randomFillSync } from 'node:crypto'
import { type Address, formatAddress } from '../net/ip.ts'
import type { Lease } from './access-table.ts'

/** The address that a connection to a target leaves from. */
export type Egress = { text: string; address: Address }

const LOWER_HALF = (1n << 64n) - 1n
/** The first address of a /64 is the routers', the second the proxy's own. */
const FIRST_FREE = 2n
/** RFC 2526 reserves the highest 128 of each /64 for anycast. */
const FIRST_ANYCAST = 0xfdff_ffff_ffff_ff80n
const LAST_ANYCAST = 0xfdff_ffff_ffff_ffffn

/** Separates user and session in a user name. */
const MARK = '-session-'
const SESSION_NAME = /^[A-Za-z0-9_]{1,32}$/

/** Splits a user name into user and session. Null: it names no session. The caller tries the whole name as a user first. */
export function splitSession(name: string): { user: string; session: string } | null {
  const at = name.lastIndexOf(MARK)
  return at <= 0 ? null : { user: name.slice(0, at), session: name.slice(at + MARK.length) }
}

export const isSessionName = (text: string): boolean => SESSION_NAME.test(text)

/**
 * Exit addresses of users with a leased /64. Nothing is stored: a session's address is an HMAC of session, user and /64 with
 * this agent's key. So it survives restarts, and no one else can compute it.
 */
export class ExitAddresses {
  readonly #key: Buffer
  readonly #random = Buffer.alloc(4096)
  #used = 4096

  constructor(key: string) {
    this.#key = Buffer.from(key, 'base64url')
  }

  /** The exit of the next connection to a target. `session` is empty if none was named. */
  next(lease: Lease, leased: Egress, session: string): Egress {
    if (leased.address.v4 >= 0 || lease.egress === 'fixed') return leased
    if (lease.egress === 'request') return within(leased, this.#draw())
    return session === '' ? leased : within(leased, this.#ofSession(lease.user, leased, session))
  }

  #draw(): bigint {
    for (;;) {
      if (this.#used === this.#random.length) {
        randomFillSync(this.#random)
        this.#used = 0
      }
      const drawn = this.#random.readBigUInt64LE(this.#used)
      this.#used += 8
      if (isFree(drawn)) return drawn
    }
  }

  #ofSession(user: string, { address }: Egress, session: string): bigint {
    const prefix = (address.v6 >> 64n).toString(16)
    for (let nth = 0; ; nth++) {
      const made = createHmac('sha256', this.#key).update(`${user}\n${prefix}\n${session}\n${nth}`).digest()
      const drawn = made.readBigUInt64LE(0)
      if (isFree(drawn)) return drawn
    }
  }
}

const isFree = (lower: bigint): boolean => lower >= FIRST_FREE && (lower < FIRST_ANYCAST || lower > LAST_ANYCAST)

function within({ address }: Egress, lower: bigint): Egress {
  const v6 = (address.v6 & ~LOWER_HALF) | lower
  return { text: formatAddress(6, v6), address: { v4: -1, v6 } }
}
