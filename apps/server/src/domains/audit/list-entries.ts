import { AUDIT_KINDS, type AuditEntry, type Resource } from '@netlet/contract'
import { and, desc, asc, eq, gt, gte, inArray, lt, sql, type SQL } from '../../infra/db/drizzle.ts'
import { DAY, HOUR, iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { auditLog, verbOf } from '../../infra/tables.ts'

// Must equal the expression of the trigram index, letter for letter, or the database would read every row.
const searched = sql`(${auditLog.actorName} || ' ' || ${auditLog.action} || ' ' || ${auditLog.targetType} || ' ' || ${auditLog.targetId})`

type Query = ListInput<'id'> & {
  actor?: string | undefined
  target_type?: Resource | undefined
  target_id?: string | undefined
  verb?: string | undefined
  kind?: keyof typeof AUDIT_KINDS | undefined
  from?: string | undefined
  until?: string | undefined
}

/** The numbers of orders for people, from a higher domain. */
export type OrderNumbers = {
  orderNumbers: (db: Executor, ids: number[]) => Promise<ReadonlyMap<number, string>>
  orderOf: (db: Executor, number: string) => Promise<number | undefined>
}

/**
 * Changes, by text. 'user 42' finds changes of that user, an order's number those of that order; other text is searched
 * in actor, action and target.
 */
export const entryList = ({ orderNumbers, orderOf }: OrderNumbers) =>
  defineList<Query, AuditEntry>({
    name: 'audit_log',
    table: auditLog,
    id: auditLog.id,
    sort: { id: auditLog.id },
    async match(db, { search, actor, target_type, target_id, verb, kind, from, until }) {
      const numbered = async (text: string | undefined) =>
        text ? ((await orderOf(db, text))?.toString() ?? null) : null
      const order = await numbered(search)
      const [, type = order && 'order', id = order] = /^([a-z_]+) (\d+)$/.exec(search ?? '') ?? []
      const target = target_type === undefined || target_type === 'order' ? await numbered(target_id) : null
      const where = [
        actor === undefined ? undefined : eq(lower(auditLog.actorName), actor.toLowerCase()),
        target_type === undefined ? undefined : eq(auditLog.targetType, target_type),
        target_id === undefined ? undefined : eq(auditLog.targetId, target ?? target_id),
        verb === undefined ? undefined : eq(verbOf(auditLog.action), verb),
        await within(db, from, until)
      ]
      const verbs: readonly string[] | undefined = kind && AUDIT_KINDS[kind]
      if (type && id)
        return {
          where: [...where, eq(auditLog.targetType, type), verbs && inArray(verbOf(auditLog.action), [...verbs])],
          anyOf: [{ column: auditLog.targetId, among: [id] }]
        }
      // Each by itself: the database knows that few entries have one of them.
      const anyOf = verbs?.map(one => ({ column: verbOf(auditLog.action), among: [one] }))
      return { where, ...(anyOf && { anyOf }), text: search ? { in: searched, term: search } : undefined }
    },
    async load(db, ids) {
      const rows = await db.select().from(auditLog).where(among(auditLog.id, ids))
      const ofOrders = rows.filter(row => row.targetType === 'order' && /^\d{1,15}$/.test(row.targetId))
      const numbers =
        ofOrders.length === 0
          ? new Map()
          : await orderNumbers(db, [...new Set(ofOrders.map(row => Number(row.targetId)))])
      return rows.map(row =>
        present(row, row.targetType === 'order' ? (numbers.get(Number(row.targetId)) ?? null) : null)
      )
    }
  })

/** Longer than any transaction: within this time ids and times of entries may be in different order. */
const DISORDER = HOUR

/** The entries between two times. The list goes by id, so the index of times first finds the range of ids. */
async function within(db: Executor, from: string | undefined, until: string | undefined): Promise<SQL | undefined> {
  const first = from === undefined ? undefined : new Date(from)
  // Includes the whole day.
  const end = until === undefined ? undefined : new Date(Date.parse(until) + (until.length === 10 ? DAY : 1))
  const [below] = first
    ? await nearest(db, lt(auditLog.at, new Date(first.getTime() - DISORDER)), desc(auditLog.at))
    : []
  const [above] = end ? await nearest(db, gt(auditLog.at, new Date(end.getTime() + DISORDER)), asc(auditLog.at)) : []
  return and(
    first && gte(auditLog.at, first),
    end && lt(auditLog.at, end),
    below && gt(auditLog.id, below.id),
    above && lt(auditLog.id, above.id)
  )
}

const nearest = (db: Executor, where: SQL, order: SQL) =>
  db.select({ id: auditLog.id }).from(auditLog).where(where).orderBy(order).limit(1)

const present = (row: typeof auditLog.$inferSelect, targetName: string | null): AuditEntry => ({
  id: row.id,
  at: iso(row.at),
  actor: row.actorName,
  viewed_as: row.viewedAs,
  via: row.via,
  action: row.action,
  target_type: row.targetType,
  target_id: row.targetId,
  target_name: targetName,
  before: row.before,
  after: row.after,
  ip: row.ip
})
