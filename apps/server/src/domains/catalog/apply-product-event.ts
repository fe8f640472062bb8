import { and, eq, inArray, isNull } from 'drizzle-orm'
import { ProductDeletedEvent, ProductEvent } from '../../integrations/shopify/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import { finishPlatformEvent, takePlatformEvent } from './platform-events.ts'
import { products, variants } from './tables.ts'
import { wholeCents } from './whole-cents.ts'

/** Applies a noted product webhook, once. An event older than what we know of the product changes nothing. */
export async function applyProductEvent(ctx: Pick<AppContext, 'db' | 'now'>, eventId: string): Promise<void> {
  await ctx.db.transaction(async tx => {
    const event = await takePlatformEvent(tx, eventId)
    if (!event) return
    const outcome = await applyTopic(tx, event.topic, event.payload, ctx.now())
    await finishPlatformEvent(tx, eventId, outcome, ctx.now())
  })
}

async function applyTopic(tx: Executor, topic: string, payload: unknown, at: Date): Promise<string> {
  if (topic === 'products/delete') {
    const event = ProductDeletedEvent.safeParse(payload)
    return event.success ? withdraw(tx, event.data.id) : 'not understood'
  }
  if (topic === 'products/update') {
    const event = ProductEvent.safeParse(payload)
    return event.success ? follow(tx, event.data, at) : 'not understood'
  }
  // A new product is nothing to the shop before an administrator adds it, and that reads the platform afresh.
  return 'nothing to do'
}

async function withdraw(tx: Executor, platformId: string): Promise<string> {
  const [gone] = await tx
    .update(products)
    .set({ valid: false })
    .where(and(eq(products.platformId, platformId), isNull(products.deletedAt), products.valid))
    .returning({ id: products.id })
  if (!gone) return 'not in the shop'
  const change = { action: 'withdraw product', targetType: 'product', targetId: gone.id, after: { valid: false } }
  await record(tx, null, change)
  return 'withdrawn'
}

async function follow(tx: Executor, event: ProductEvent, at: Date): Promise<string> {
  const [product] = await tx
    .select()
    .from(products)
    .where(and(eq(products.platformId, event.id), isNull(products.deletedAt)))
    .for('update')
  if (!product) return 'not in the shop'
  const updatedAt = event.updated_at ? new Date(event.updated_at) : null
  if (product.platformUpdatedAt && updatedAt && updatedAt < product.platformUpdatedAt) return 'older than what is known'
  const known = await tx
    .select()
    .from(variants)
    .where(and(eq(variants.productId, product.id), isNull(variants.deletedAt)))
  const there = new Map(event.variants.map(variant => [variant.id, variant]))
  // A platform variant never comes back under its id: what went makes room for another with the same options.
  const gone = known.filter(variant => !there.has(variant.platformId)).map(variant => variant.id)
  if (gone.length > 0)
    await tx.update(variants).set({ isActive: false, deletedAt: at }).where(inArray(variants.id, gone))
  const repriced = await followVariants(tx, known, there)
  const added = event.variants.some(variant => !known.some(one => one.platformId === variant.id))
  const after = {
    name: event.title,
    valid: event.status === 'active',
    // There is something to decide that only an administrator can: what to make of variants that came or went. It
    // stands until the product is saved, whatever the platform tells meanwhile.
    oldFlag: product.oldFlag || added || gone.length > 0
  }
  await tx
    .update(products)
    .set({ ...after, platformUpdatedAt: updatedAt ?? product.platformUpdatedAt })
    .where(eq(products.id, product.id))
  const { name, valid, oldFlag } = product
  const before = { name, valid, oldFlag }
  // The platform tells of each sale too: what changes nothing here is no entry.
  const differs = name !== after.name || valid !== after.valid || oldFlag !== after.oldFlag
  if (differs || repriced || gone.length > 0)
    await record(tx, null, { action: 'follow platform', targetType: 'product', targetId: product.id, before, after })
  return 'applied'
}

type EventVariant = ProductEvent['variants'][number]

/** Names, options and prices of the variants that both sides have. @returns whether any was another here */
async function followVariants(
  tx: Executor,
  known: readonly (typeof variants.$inferSelect)[],
  there: ReadonlyMap<string, EventVariant>
): Promise<boolean> {
  const changes = known.flatMap(variant => {
    const now = there.get(variant.platformId)
    if (!now) return []
    const change = {
      price: wholeCents(now.price),
      name: [now.option1, now.option2, now.option3].filter(Boolean).join(' / ') || now.title,
      option1: now.option1 ?? null,
      option2: now.option2 ?? null,
      option3: now.option3 ?? null
    }
    const differs = Object.entries(change).some(([key, value]) => variant[key as keyof typeof change] !== value)
    return differs ? [{ variant, change }] : []
  })
  // Two variants may have swapped their options: out of each other's way first, no two may have the same ones.
  for (const { variant } of changes)
    await tx
      .update(variants)
      .set({ option1: `moving ${variant.id}` })
      .where(eq(variants.id, variant.id))
  for (const { variant, change } of changes) await tx.update(variants).set(change).where(eq(variants.id, variant.id))
  return changes.length > 0
}
