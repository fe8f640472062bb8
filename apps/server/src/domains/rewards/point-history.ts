import type { PointRecord } from '@netlet/contract'
import { eq, ne } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { sentenceOfRecord } from './grant.ts'
import { pointRecords } from './tables.ts'

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
