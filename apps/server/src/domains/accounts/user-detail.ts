import { refuse, type UserDetail } from '@netlet/contract'
import { and, eq, gt, isNull } from 'drizzle-orm'
import type { AppContext } from '../../infra/context.ts'
import { ok, type Result } from '../../infra/result.ts'
import { blockOf } from '../mail/index.ts'
import type { AccountPorts } from './ports.ts'
import { presentUser, userColumns } from './present-user.ts'
import { apiKeys, sessions, users } from './tables.ts'

/** One user with its figures in the shop. */
export async function findUser(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { levelThresholds, pendingCoins, figures }: Pick<AccountPorts, 'levelThresholds' | 'pendingCoins' | 'figures'>,
  id: number
): Promise<Result<UserDetail>> {
  const [[row], thresholds, pending, owned, signedIn, keys] = await Promise.all([
    db
      .select(userColumns)
      .from(users)
      .where(and(eq(users.id, id), isNull(users.deletedAt))),
    levelThresholds(db),
    pendingCoins(db, id),
    figures(db, id),
    db.$count(sessions, and(eq(sessions.userId, id), isNull(sessions.impersonatorId), gt(sessions.expiresAt, now()))),
    db.$count(apiKeys, and(eq(apiKeys.userId, id), isNull(apiKeys.revokedAt)))
  ])
  if (!row) return refuse('not_found')
  const [inviter] = row.invitedBy
    ? await db.select({ id: users.id, username: users.username }).from(users).where(eq(users.id, row.invitedBy))
    : []
  const blocked = await blockOf(db, row.email)
  return ok({
    ...presentUser(row, thresholds),
    language: row.language,
    mail_blocked: blocked,
    invited_by: inviter ?? null,
    pending_points: pending,
    owed_points: row.coinsOwed,
    sessions: signedIn,
    api_keys: keys,
    figures: owned
  })
}
