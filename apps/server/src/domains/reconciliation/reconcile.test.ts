import type { InboxEntry, Page } from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
