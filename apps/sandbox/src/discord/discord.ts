import { createHash, randomBytes } from 'node:crypto'

export type ChatUser = { id: string; username: string; global_name: string | null }

export const demoChatUsers: readonly ChatUser[] = [
  { id: '310000000000000001', username: 'marlow', global_name: 'Marlow' },
  { id: '310000000000000002', username: 'ines.k', global_name: 'Ines K.' },
  { id: '310000000000000003', username: 'rackwatcher', global_name: null }
]

/** A name always gives the same account, as on the real platform. */
export function namedUser(name: string): ChatUser {
  const known = demoChatUsers.find(user => user.username === name)
  if (known) return known
  const number = BigInt(`0x${createHash('sha256').update(name).digest('hex').slice(0, 14)}`) % 10n ** 17n
  return { id: String(320_000_000_000_000_000n + number), username: name, global_name: null }
}

type Grant = { user: ChatUser; redirectUri: string; challenge: string | null; expiresAt: number }
const CODE_LIFE_MS = 10 * 60_000
const TOKEN_LIFE_MS = 7 * 24 * 3600_000

const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

/** Codes and tokens of the stand-in. A code works once, for its redirect address, for ten minutes. */
export function createGrants(now: () => number) {
  const codes = new Map<string, Grant>()
  const tokens = new Map<string, { user: ChatUser; expiresAt: number }>()
  return {
    /** @param challenge of PKCE (S256); null: the authorize address had none */
    issueCode(user: ChatUser, redirectUri: string, challenge: string | null): string {
      for (const [old, grant] of codes) if (grant.expiresAt <= now()) codes.delete(old)
      const code = randomBytes(15).toString('base64url')
      codes.set(code, { user, redirectUri, challenge, expiresAt: now() + CODE_LIFE_MS })
      return code
    },

    /** The access token; null if the code is unknown, used, expired, or of another redirect address or challenge. */
    redeem(code: string, redirectUri: string, verifier: string | null): string | null {
      const grant = codes.get(code)
      codes.delete(code)
      if (!grant || grant.redirectUri !== redirectUri || grant.expiresAt <= now()) return null
      if (grant.challenge !== (verifier === null ? null : challengeOf(verifier))) return null
      const token = randomBytes(24).toString('base64url')
      tokens.set(token, { user: grant.user, expiresAt: now() + TOKEN_LIFE_MS })
      return token
    },

    userOf(token: string): ChatUser | null {
      const held = tokens.get(token)
      return held && held.expiresAt > now() ? held.user : null
    }
  }
}
