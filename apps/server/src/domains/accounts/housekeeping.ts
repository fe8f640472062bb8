import { lt } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { dayOf, NETWORKS_KEPT } from './api-key-use.ts'
import { FAILURE_WINDOW } from './attempts.ts'
import { CODES_KEPT } from './code-limits.ts'
import { apiKeyNetworks, captchas, emailCodes, loginFailures, oauthStates, sessions } from './tables.ts'

/** Removes what has expired: sessions, codes, captchas, counted failures, OAuth states, networks of API keys. */
export async function removeExpired(ctx: AppContext): Promise<void> {
  const expired = (at: Date) => [
    { table: sessions, where: lt(sessions.expiresAt, at) },
    // A day longer: the limits of codes count them.
    { table: emailCodes, where: lt(emailCodes.expiresAt, new Date(at.getTime() - CODES_KEPT)) },
    { table: captchas, where: lt(captchas.expiresAt, at) },
    { table: loginFailures, where: lt(loginFailures.at, new Date(at.getTime() - FAILURE_WINDOW)) },
    { table: oauthStates, where: lt(oauthStates.expiresAt, at) },
    { table: apiKeyNetworks, where: lt(apiKeyNetworks.lastUsedOn, dayOf(new Date(at.getTime() - NETWORKS_KEPT))) }
  ]
  // Each in a command of its own: many old rows of one table keep nobody waiting for another.
  for (const { table, where } of expired(ctx.now()))
    await command(ctx, SYSTEM, unit => unit.tx.delete(table).where(where))
}
