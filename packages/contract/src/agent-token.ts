import { z } from 'zod'

/** A management token: visible ASCII, which fits in a header and in the agent's settings file. */
export const agentToken = z.string().regex(/^[\w-]{24,128}$/)

/**
 * Body of `PUT /api/token`, by which a console replaces the management token. The present one is accepted too until a
 * call comes with the new one.
 */
export const agentTokenBody = z.object({ token: agentToken })

/** Reply of `PUT /api/token`: the token is saved. */
export const agentTokenReply = z.object({ saved: z.literal(true) })

/** In the state folder: the token that a console put in the place of the configured one. */
export const ROTATED_TOKEN_FILE = 'rotated-token'

export const rotatedToken = z.object({
  /** SHA-256 (hex) of the configured token. With another configured token the file does not count. */
  instead_of: z.string(),
  token: agentToken,
  /** Accepted too, until a call comes with `token`. */
  before: z.string().nullable()
})
