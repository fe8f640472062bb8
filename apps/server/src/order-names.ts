import { sentenceOf, type Refusal } from '@netlet/contract'
import { eq } from './infra/db/drizzle.ts'
import { orderLabels } from './domains/orders/index.ts'
import { orders } from './domains/orders/tables.ts'
import type { Executor } from './infra/db/client.ts'
import { SENT, type Mount } from './infra/http/mount.ts'

/** How many orders a sentence names. */
const NAMED = 10

/**
 * Lower domains know orders by id only. A refusal has the ids in `data.orders`; its sentence gets the console's
 * numbers.
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
    orders:
      ids
        .slice(0, NAMED)
        .map(id => numbers.get(id) ?? `#${id}`)
        .join(', ') + (ids.length > NAMED ? ', …' : '')
  }
  const { errors } = refusal.data as { errors?: Record<string, string> }
  if (!errors) return { ...refusal, params }
  // A field's error repeats the refusal's sentence.
  const [before, after] = [sentenceOf(refusal), sentenceOf({ ...refusal, params })]
  const renamed = Object.entries(errors).map(([field, text]) => [field, text === before ? after : text])
  return { ...refusal, params, data: { ...refusal.data, errors: Object.fromEntries(renamed) } }
}

const idsOf = (data: Refusal['data']): number[] => {
  const ids = data && 'orders' in data ? data.orders : []
  return Array.isArray(ids) ? ids.filter(id => typeof id === 'number') : []
}

/** Order numbers for the audit log. */
export const auditNames = {
  orderNumbers: orderLabels,
  async orderOf(db: Executor, number: string): Promise<number | undefined> {
    const [order] = await db.select({ id: orders.id }).from(orders).where(eq(orders.publicId, number))
    return order?.id
  }
}
