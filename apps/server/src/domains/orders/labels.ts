import { inArray } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { orders } from './tables.ts'

/** The public ids of these orders. */
export async function orderLabels(db: Executor, ids: number[]): Promise<ReadonlyMap<number, string>> {
  const found = await db.select({ id: orders.id, label: orders.publicId }).from(orders).where(inArray(orders.id, ids))
  return new Map(found.map(({ id, label }) => [id, label]))
}
