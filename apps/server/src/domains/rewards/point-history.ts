import type { PointRecord } from '@netlet/contract'
import { and, asc, eq, gt, like, ne, not, or, sql } from '../../infra/db/drizzle.ts'
import { iso } from '../../infra/clock.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { sentenceOfRecord } from './grant.ts'
import { coupons, pointRecords } from './tables.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { users } from '../accounts/tables.ts'

/**
 * Removes a user's names from the inviter's points history, and keeps the records. It finds them by their cause,
 * because other invited users may have had the same names.
 * @param paid the platform's ids of the user's payments
 */
export async function forgetInvited(
  { tx }: Unit,
  { id, paid }: { id: number; paid: readonly string[] },
  replacement: string
): Promise<void> {
  const [user] = await tx.select({ invitedBy: users.invitedBy }).from(users).where(eq(users.id, id))
  if (!user?.invitedBy) return
  const ofInviter = eq(pointRecords.userId, user.invitedBy)
  // The cause of a record that takes coins: 'refund:<earning>', or 'refund:<earning>:pending:<payment of those coins>'.
  const takes = like(pointRecords.cause, 'refund:%')
  const caused = or(
    eq(pointRecords.cause, `invite:${id}`),
    like(pointRecords.cause, `invite:${id}:%`),
    sql`${pointRecords.payment} = any(${sql.param(paid)}::text[])`
  )
  const earned = and(not(takes), caused)
  const earnings = tx
    .select({ id: sql`${pointRecords.id}::text` })
    .from(pointRecords)
    .where(and(ofInviter, earned))
  const taken = and(takes, sql`split_part(${pointRecords.cause}, ':', 2) in (${earnings})`)
  await tx
    .update(pointRecords)
    .set({ reasonParams: sql`jsonb_set(${pointRecords.reasonParams}, '{username}', to_jsonb(${replacement}::text))` })
    .where(and(ofInviter, or(earned, taken), sql`${pointRecords.reasonParams} ? 'username'`))
}

/** A user's points history for the export of personal data, in batches. */
export async function* exportPoints(db: Executor, userId: number): AsyncGenerator<object[]> {
  const pages = pagesById(({ after, limit }) =>
    db
      .select()
      .from(pointRecords)
      .where(and(eq(pointRecords.userId, userId), ne(pointRecords.point, 0), gt(pointRecords.id, after)))
      .orderBy(asc(pointRecords.id))
      .limit(limit)
  )
  for await (const rows of pages)
    yield rows.map(row => ({
      kind: row.kind,
      point: row.point,
      reason: sentenceOfRecord(row),
      created_at: iso(row.createdAt)
    }))
}

/** A user's promo codes for the export of personal data. */
export async function* exportCodes(db: Executor, userId: number): AsyncGenerator<object[]> {
  const rows = await db.select().from(coupons).where(eq(coupons.holderId, userId)).orderBy(asc(coupons.id))
  yield rows.map(row => ({
    code: row.code,
    discount: row.discount,
    is_used: row.isUsed,
    created_at: iso(row.createdAt)
  }))
}

type Query = ListInput<'id'> & { kind?: 'level' | 'coins' | undefined }

/** A user's changes of points and coins, newest first. */
export const pointRecordList = (userId: number, now: Date) =>
  defineList<Query, PointRecord>({
    name: 'point_records',
    table: pointRecords,
    id: pointRecords.id,
    sort: { id: pointRecords.id },
    match: (_db, { kind }) => ({
      // Records of 0 points are not shown.
      where: [ne(pointRecords.point, 0), kind === undefined ? undefined : eq(pointRecords.kind, kind)],
      anyOf: [{ column: pointRecords.userId, among: [userId] }]
    }),
    async load(db, ids) {
      const rows = await db.select().from(pointRecords).where(among(pointRecords.id, ids))
      return rows.map(row => ({
        id: row.id,
        created_at: iso(row.createdAt),
        reason: sentenceOfRecord(row),
        reason_code: row.reasonCode,
        params: row.reasonParams ?? {},
        point: row.point,
        kind: row.kind,
        pending_until: row.maturesAt && row.maturesAt > now ? iso(row.maturesAt) : null
      }))
    }
  })
