import { getTableColumns, type InferInsertModel, type InferSelectModel } from '../infra/db/drizzle.ts'
import { PgTimestamp, type PgTable } from 'drizzle-orm/pg-core'
import { products, variants } from '../domains/catalog/tables.ts'
import { serverGroups } from '../domains/servers/tables.ts'
import type { Clock } from '../infra/clock.ts'
import type { Executor } from '../infra/db/client.ts'

type Times<Row> = { [K in keyof Row]-?: Row[K] extends Date ? K : never }[keyof Row]
type NewRow<T extends PgTable, Row = InferInsertModel<T>> = Omit<Row, Times<Row>> & Partial<Pick<Row, Times<Row>>>

/** A shop's context, or the unit of a command. */
export type Place = { db: Executor; now: Clock } | { tx: Executor; now: Date }

/** Inserts rows without their command. Required times default to the shop's current time. */
export async function addRows<T extends PgTable>(
  place: Place,
  table: T,
  rows: NewRow<T>[]
): Promise<InferSelectModel<T>[]> {
  const [db, now] = 'tx' in place ? [place.tx, place.now] : [place.db, place.now()]
  const times = Object.entries(getTableColumns(table))
    .filter(([, column]) => column instanceof PgTimestamp && column.notNull && !column.hasDefault)
    .map(([name]) => [name, now])
  const values = rows.map(row => ({ ...Object.fromEntries(times), ...row }))
  return (await db.insert(table).values(values).returning()) as InferSelectModel<T>[]
}

export async function addRow<T extends PgTable>(place: Place, table: T, row: NewRow<T>): Promise<InferSelectModel<T>> {
  const [added] = await addRows(place, table, [row])
  if (!added) throw new Error('nothing was inserted')
  return added
}

/** A plan of $2.00 an address, on a server group without servers, for rows of `orders`. */
export async function addPlan(place: Place): Promise<{ productId: number; variantId: number; serverGroupId: number }> {
  const { id: serverGroupId } = await addRow(place, serverGroups, { name: 'here' })
  const { id: productId } = await addRow(place, products, { platformId: '1', name: 'Plan' })
  const variant = { productId, platformId: '2', name: 'Here', price: '2.00', serverGroupId }
  return { productId, variantId: (await addRow(place, variants, variant)).id, serverGroupId }
}
