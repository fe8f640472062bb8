import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoPlans } from '../../../../sandbox/src/shopify/catalogue.ts'
import { launch, newDataDir, removeDataDir, secrets, startReceiver } from '../../../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { createShopify } from '../../integrations/shopify/index.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { tagOrder } from './platform.ts'

let shop: TestShop
let sandbox: Sandbox
let receiver: Awaited<ReturnType<typeof startReceiver>>
let dataDir: string

beforeAll(async () => {
  shop = await startTestShop({})
  dataDir = await newDataDir()
  receiver = await startReceiver()
  sandbox = await launch(dataDir, receiver.url)
  await writeSettings(shop.ctx, {
    shopify_shop_url: sandbox.url,
    shopify_app_key: secrets.accessToken,
    shopify_api_secret: secrets.appSecret
  })
})
afterAll(async () => {
  await shop?.close()
  await sandbox?.close()
  await receiver?.close()
  await removeDataDir(dataDir)
})

const platform = () =>
  createShopify({ shopUrl: sandbox.url, accessToken: secrets.accessToken, apiSecret: secrets.appSecret })

/** A paid order of the platform. */
async function paidOrder(orderId: string): Promise<string> {
  const variantId = demoPlans[0]?.variants[0]?.id ?? ''
  const url = platform().checkoutUrl({ lines: [{ variantId, quantity: 1 }], attributes: { order_id: orderId } })
  await fetch(`${(await fetch(url ?? '')).url}/pay`, { method: 'POST', redirect: 'manual' })
  const changed = await platform().changedOrders(new Date(0))
  const found = changed.ok
    ? changed.value.orders.find(({ attributes }) => attributes['order_id'] === orderId)
    : undefined
  if (!found) throw new Error(`${orderId} was not paid`)
  return found.id
}
async function shown(id: string) {
  const found = await platform().order(id)
  return found.ok ? { tags: found.value.tags, note: found.value.note } : found.reason
}
const failed = { tags: ['delivery_fail'], note: 'No free addresses' }
const byHand = { tags: ['delivered'], note: 'Delivered by boss' }

test('an order that is delivered after all loses the tag of its failure on the platform', async () => {
  const platformOrderId = await paidOrder('801')
  await tagOrder(shop.ctx, { platformOrderId, ...failed })
  expect(await shown(platformOrderId)).toEqual(failed)
  await tagOrder(shop.ctx, { platformOrderId, ...byHand })
  expect(await shown(platformOrderId)).toEqual(byHand)
})

test('a late report of a failure does not change an order that was delivered since', async () => {
  const platformOrderId = await paidOrder('802')
  await tagOrder(shop.ctx, { platformOrderId, ...byHand })
  await tagOrder(shop.ctx, { platformOrderId, ...failed })
  expect(await shown(platformOrderId)).toEqual(byHand)
})

test('a tag for an order that the platform does not have is given up', async () => {
  await expect(tagOrder(shop.ctx, { platformOrderId: '1', ...failed })).resolves.toBeUndefined()
})
