import type { PointRecord } from '@netlet/contract'
import { ilike } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import { containing } from '../../infra/db/like.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { pointRecords } from './tables.ts'

/** A user's changes of points and coins, found by reason. */
export const pointRecordList = (userId: number) =>
  defineList<ListInput<'id'>, PointRecord>({
    name: 'point_records',
    table: pointRecords,
    id: pointRecords.id,
    sort: { id: pointRecords.id },
    match: (_db, { search }) => ({
      where: [search === undefined ? undefined : ilike(pointRecords.reason, containing(search))],
      anyOf: [{ column: pointRecords.userId, among: [userId] }]
    }),
    async load(db, ids) {
      const rows = await db.select().from(pointRecords).where(among(pointRecords.id, ids))
      return rows.map(({ id, createdAt, reason, point, kind }) => ({
        id,
        created_at: iso(createdAt),
        reason,
        point,
        kind
      }))
    }
  })
