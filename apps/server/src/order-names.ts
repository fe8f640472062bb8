import { sentenceOf, type Refusal } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { orderLabels } from './domains/orders/index.ts'
import { orders } from './domains/orders/tables.ts'
import type { Executor } from './infra/db/client.ts'
import { SENT, type Mount } from './infra/http/mount.ts'

/** So many orders are named in a sentence. */
const NAMED = 10

/**
 * The domains below the orders know these by their ids alone. Where they refuse something because of orders, `data.orders`
 * has the ids: here the sentence gets the numbers that the console shows and searches.
 */
export const namingOrders = (mount: Mount, db: Executor): Mount =>
  function mountNaming(route, handler) {
    mount(route, async call => {
      const result = await handler(call)
      return result === SENT || result.ok ? result : named(db, result)
    })
  }

async function named(db: Executor, refusal: Refusal): Promise<Refusal> {
  const ids = idsOf(refusal.data)
  if (ids.length === 0) return refusal
  const numbers = await orderLabels(db, ids.slice(0, NAMED))
  const params = {
    ...refusal.params,
    orders: ids
      .slice(0, NAMED)
      .map(id => numbers.get(id) ?? `#${id}`)
      .join(', ')
  }
  const { errors } = refusal.data as { errors?: Record<string, string> }
  if (!errors) return { ...refusal, params }
  // Beside a field stands the refusal's own sentence.
  const [before, after] = [sentenceOf(refusal), sentenceOf({ ...refusal, params })]
  const renamed = Object.entries(errors).map(([field, text]) => [field, text === before ? after : text])
  return { ...refusal, params, data: { ...refusal.data, errors: Object.fromEntries(renamed) } }
}

const idsOf = (data: Refusal['data']): number[] => {
  const ids = data && 'orders' in data ? data.orders : []
  return Array.isArray(ids) ? ids.filter(id => typeof id === 'number') : []
}

/** What the audit log gets to know of orders. */
export const auditNames = {
  orderNumbers: orderLabels,
  async orderOf(db: Executor, number: string): Promise<number | undefined> {
    const [order] = await db.select({ id: orders.id }).from(orders).where(eq(orders.publicId, number))
    return order?.id
  }
}
