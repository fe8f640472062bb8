import type { Health, InboxEntry, Page } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { HOUR } from '../../infra/clock.ts'
import { later } from '../../testing/later.ts'
import { timeOutOrders } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { control } from '../../../../sandbox/src/testing/harness.ts'
import { inState, PLAN_VARIANT, ruleVariant } from '../../testing/buying.ts'

import { reconcilePayments } from './reconcile.ts'
import { startPaymentStack, type PaymentStack } from '../payments/stack.fixture.ts'
import { missedWebhooks } from '../commerce/refused-webhooks.ts'

let shop: PaymentStack

beforeAll(async () => {
  shop = await startPaymentStack('127.28.0.0/25')
}, 120_000)
afterAll(() => shop?.stack.close())

/** Pays a cart whose webhook is lost. @returns the platform's id of its order */
async function payUnheard(checkoutUrl: string, instead: object = {}): Promise<string> {
  await control(shop.stack.platform, 'POST', '/webhooks/faults', { action: 'drop', next: 1 })
  return pay(checkoutUrl, instead)
}

async function pay(checkoutUrl: string, instead: object): Promise<string> {
  const { platform } = shop.stack
  const cart = await fetch(checkoutUrl, { redirect: 'manual' })
  const token = new URL(cart.headers.get('location') ?? '', checkoutUrl).pathname.split('/').at(-1)
  const { order } = await control<{ order: { id: string } }>(platform, 'POST', `/checkouts/${token}/pay`, instead)
  return order.id
}

const entryOf = (platformOrder: string) =>
  shop.stack.eventually('the entry of the inbox', async () => {
    const found = await shop.admin.get<Page<InboxEntry>>(`/api/payments/inbox/?limit=10&search=${platformOrder}`)
    return found.data.data.find(({ outcome }) => outcome !== null)
  })

test('a payment for a plan that names no order and that no webhook reported is found', async () => {
  const { checkout_url } = await shop.placed()
  const bare = new URL(checkout_url)
  const naming = [...bare.searchParams.keys()].filter(name => name.startsWith('attributes') || name === 'note')
  for (const name of naming) bare.searchParams.delete(name)
  expect(bare.href).not.toBe(checkout_url)
  const id = await payUnheard(bare.href)
  expect(await reconcilePayments(shop.stack.ctx)).toBe(1)
  expect(await entryOf(id)).toMatchObject({ outcome: 'unknown_order', unresolved: true, payment: 'held' })
})

test('a payment is found though the app may not read the addresses of customers', async () => {
  const { order_id, checkout_url } = await shop.placed()
  await payUnheard(checkout_url)
  await control(shop.stack.platform, 'POST', '/graphql/faults', { kind: 'no_emails', next: 100 })
  await reconcilePayments(shop.stack.ctx)
  await control(shop.stack.platform, 'POST', '/graphql/faults', { kind: 'none' })
  await inState(shop.stack, shop.buyer, order_id, 'delivered')
})

test('a held payment whose order was edited on the platform settles without a webhook', async () => {
  const { order_id, checkout_url } = await shop.placed()
  const lines = [PLAN_VARIANT, ruleVariant(1)].map(variantId => ({ variantId, quantity: 4 }))
  const id = await payUnheard(checkout_url, { lines })
  const { ctx, platform } = shop.stack
  await reconcilePayments(ctx)
  await inState(shop.stack, shop.buyer, order_id, 'failed')
  await control(platform, 'PATCH', `/orders/${id}`, { quantities: { [PLAN_VARIANT]: 8, [ruleVariant(1)]: 8 } })
  await reconcilePayments(ctx)
  await inState(shop.stack, shop.buyer, order_id, 'delivered')
  await shop.stack.eventually('nothing to be found', async () => (await reconcilePayments(ctx)) === 0)
  // The platform reports a payment once. A missed edit does not mean that webhooks are lost.
  const later = new Date(ctx.now().getTime() + 20 * 60_000)
  expect(await missedWebhooks(ctx.db, later)).toBe(3)
})

test('a payment whose wallet lost the attributes settles by its note, told or found', async () => {
  for (const isTold of [true, false]) {
    const { order_id, checkout_url } = await shop.placed()
    const instead = { loses_attributes: true }
    if (isTold) await pay(checkout_url, instead)
    else await payUnheard(checkout_url, instead)
    if (!isTold) await reconcilePayments(shop.stack.ctx)
    await inState(shop.stack, shop.buyer, order_id, 'delivered')
  }
})

test('an authorised payment holds its addresses for a week, is named on the health page, and counts once captured', async () => {
  const { platform, ctx } = shop.stack
  await control(platform, 'POST', '/payment_capture', { later: true })
  onTestFinished(async () => void (await control(platform, 'POST', '/payment_capture', { later: false })))
  const { checkout_url, order_id } = await shop.placed()
  const id = await pay(checkout_url, {})
  const named = async () =>
    (await shop.admin.get<Health>('/api/settings/health/')).data.platform?.reconciliation.authorized
  expect(await named()).toBeNull()
  expect(await reconcilePayments(ctx)).toBe(0)
  expect(await named()).toMatch(/^#\d+$/)
  const held = async () => {
    const [order] = await ctx.db.select().from(orders).where(eq(orders.publicId, order_id))
    return { state: order?.state, hours: Math.round((Number(order?.reservedUntil) - Number(order?.createdAt)) / HOUR) }
  }
  expect(await held()).toEqual({ state: 'placed', hours: 7 * 24 })
  await timeOutOrders(later(ctx, 2 * HOUR))
  expect(await held()).toMatchObject({ state: 'placed' })
  await control(platform, 'POST', `/orders/${id}/capture`)
  await shop.stack.eventually('the order is paid', async () => (await held()).state !== 'placed')
  expect(await reconcilePayments(ctx)).toBe(0)
})
