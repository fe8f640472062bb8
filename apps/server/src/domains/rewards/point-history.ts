import type { PointRecord } from '@netlet/contract'
import { count, desc, eq } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pageOf } from '../../infra/http/paging.ts'
import { sentenceOfRecord } from './grant.ts'
import { pointRecords } from './tables.ts'

/** A page of a user's changes of points and coins, newest first. */
export async function listPointRecords(
  db: Executor,
  { userId, limit, offset }: { userId: number; limit: number; offset: number }
) {
  const where = eq(pointRecords.userId, userId)
  const [[counted], rows] = await Promise.all([
    db.select({ total: count() }).from(pointRecords).where(where),
    db.select().from(pointRecords).where(where).orderBy(desc(pointRecords.id)).limit(limit).offset(offset)
  ])
  const shown = rows.map(row => ({
    id: row.id,
    created_at: iso(row.createdAt),
    reason: sentenceOfRecord(row),
    reason_code: row.reasonCode,
    params: row.reasonParams ?? {},
    point: row.point,
    kind: row.kind
  }))
  return pageOf<PointRecord>(shown, counted?.total ?? 0, { limit, offset })
}
