import { beforeEach, expect, test } from 'vitest'
import { demoPlans } from '../../../../sandbox/src/shopify/catalogue.ts'
import type { PlatformOrder } from '../../../../sandbox/src/shopify/state.ts'
import { control, launchAlone, openCart, secrets, startReceiver } from '../../../../sandbox/src/testing/harness.ts'
import { useStarted } from '../../testing/use-started.ts'
import { createShopify } from './index.ts'

const DAY = 86_400_000
let now = Date.parse('2026-07-01T10:00:00Z')
const shop = useStarted(startReceiver)
const sandbox = useStarted(() => launchAlone(shop.url, { now: () => now }))
const platform = () =>
  createShopify({ shopUrl: sandbox.url, accessToken: secrets.accessToken, apiSecret: secrets.appSecret })

beforeEach(() => control(sandbox, 'POST', '/app', { read_all_orders: true }))

/** An order that was paid `days` days ago. */
async function old(days: number): Promise<string> {
  const token = new URL(await openCart(sandbox, `/cart/${demoPlans[0]?.variants[1]?.id}:8`)).pathname.split('/').at(-1)
  const { order } = await control<{ order: PlatformOrder }>(sandbox, 'POST', `/checkouts/${token}/pay`, {})
  now += days * DAY
  return order.id
}

async function refund(id: string) {
  const input = await platform().refundInput(id, { amount: '1.00', note: 'n' })
  return input.ok ? platform().refund(input.value, `key of ${id}`) : input
}
const lacksScope = { ok: false, reason: 'not_found', message: expect.stringContaining('read_all_orders') }

test('without the permission, an order older than 60 days is neither read nor refunded, and the refusal names it', async () => {
  const id = await old(61)
  await control(sandbox, 'POST', '/app', { read_all_orders: false })
  expect(await refund(id)).toMatchObject(lacksScope)
  expect(await platform().order(id)).toMatchObject(lacksScope)
  expect(await platform().changedOrders(new Date(0))).toMatchObject({ ok: true, value: { orders: [] } })
  await control(sandbox, 'POST', '/app', { read_all_orders: true })
  expect(await refund(id)).toMatchObject({ ok: true })
  expect(await platform().order(id)).toMatchObject({ ok: true })
})

test('a younger order is refunded without it', async () => {
  const id = await old(59)
  await control(sandbox, 'POST', '/app', { read_all_orders: false })
  expect(await refund(id)).toMatchObject({ ok: true })
})

test('a missing order is reported as unknown if the app may see all orders', async () => {
  expect(await refund('1')).toMatchObject({ message: 'The e-commerce platform has no payment for order 1.' })
  expect(await platform().order('1')).toMatchObject({ message: 'The e-commerce platform has no order 1.' })
})

test('the page of the stand-in revokes and grants the permission', async () => {
  const press = async (to: string) => {
    const body = new URLSearchParams({ read_all_orders: to })
    return (await fetch(`${sandbox.url}/app`, { method: 'POST', body })).text()
  }
  expect(await press('no')).toContain('Grant read_all_orders')
  expect(await platform().shop()).toMatchObject({ value: { scopes: expect.not.arrayContaining(['read_all_orders']) } })
  expect(await press('yes')).toContain('Take read_all_orders away')
  expect(await platform().shop()).toMatchObject({ value: { scopes: expect.arrayContaining(['read_all_orders']) } })
})
