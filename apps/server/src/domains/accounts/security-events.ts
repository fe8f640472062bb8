import { eq } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import { traceQuietly } from '../../infra/traced-reads.ts'
import { countRequest } from './forwarded-limits.ts'
import { notifyAdmins } from './operators.ts'
import { users } from './tables.ts'

/** Of one user and kind. Further ones are in the server's log only. */
const ENTRIES = { most: 20, withinMs: HOUR }
const ALL = { most: 1000, withinMs: HOUR }
/** The day's key leaves one of them a day. */
const NOTICES = { most: 1, withinMs: HOUR }
/** So many of all users within an hour are reported, once a day. */
const MANY = 10

/**
 * Records what may be an attack on the console: a line in the server's log, an entry in the audit log, and a notice if
 * there are many.
 */
export async function recordSecurityEvent(
  ctx: AppContext,
  by: Actor,
  verb: 'fail_login' | 'fail_confirmation' | 'fail_second_factor' | 'refuse_rights',
  { userId, call }: { userId: number; call?: string }
): Promise<void> {
  ctx.log.warn({ security: verb, user: userId, ip: by.kind === 'system' ? null : by.ip, call }, 'security event')
  await traceQuietly(ctx, by, async unit => {
    if ((await countRequest(unit, `security:${verb}:${userId}`, ENTRIES)) !== null)
      unit.audit(`user.${verb}`, userId, { after: call ? { call } : undefined })
    // A flood that lasts does not pass through this number again, and is reported on each of its days.
    if (((await countRequest(unit, 'security', ALL)) ?? MANY) < MANY) return
    if ((await countRequest(unit, 'security-notice', NOTICES)) === null) return
    const [user] = await unit.tx.select({ name: users.username }).from(users).where(eq(users.id, userId))
    await notifyAdmins(unit, {
      words: 'security_events',
      params: { count: MANY, user: user?.name ?? String(userId) },
      key: `security:${unit.now.toISOString().slice(0, 10)}`
    })
  })
}
