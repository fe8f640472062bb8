import { lt } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { FAILURE_WINDOW } from './attempts.ts'
import { captchas, emailCodes, loginFailures, oauthStates, sessions } from './tables.ts'

/** Removes what has expired: sessions, codes, captchas, counted failures, OAuth states. */
export async function removeExpired(ctx: AppContext): Promise<void> {
  const expired = (at: Date) => [
    { table: sessions, where: lt(sessions.expiresAt, at) },
    // An hour longer, so that who types an old code is told so, and the pause between mails is kept.
    { table: emailCodes, where: lt(emailCodes.expiresAt, new Date(at.getTime() - HOUR)) },
    { table: captchas, where: lt(captchas.expiresAt, at) },
    { table: loginFailures, where: lt(loginFailures.at, new Date(at.getTime() - FAILURE_WINDOW)) },
    { table: oauthStates, where: lt(oauthStates.expiresAt, at) }
  ]
  // Each in a command of its own: many old rows of one table keep nobody waiting for another.
  for (const { table, where } of expired(ctx.now()))
    await command(ctx, SYSTEM, unit => unit.tx.delete(table).where(where))
}
