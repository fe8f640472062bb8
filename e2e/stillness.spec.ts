import { anOrder, signedIn, signIn } from './calls.ts'
import { openInOrder } from './held.ts'
import { movedIn, shiftOf, watchShifts } from './layout.ts'
import { countCalls } from './settled.ts'
import { expect, test } from './shop.ts'

const LEVELS = /\/api\/rewards\/level_code\//
const POINTS = /\/api\/rewards\/point_record\//
const EXCHANGES = /\/api\/rewards\/gift_card\/base-info\//

const PAGES: [string, RegExp[]][] = [
  ['', [/\/api\/auth\/session\//]],
  ['/index/proxies', [/\/api\/orders\/order_list\/\?limit=5/, /\/product_collections\//]],
  ['/index/rewards', [LEVELS, POINTS, EXCHANGES]],
  ['/index/giftcardUser', [EXCHANGES, /\/api\/rewards\/coupon_code\//]],
  ['/index/invite', [/\/api\/users\/invite_code/, /\/api\/users\/invite_log/]],
  ['/index/setting', [/\/api\/users\/sessions\//, /\/api\/users\/api_keys\//]]
]

test('nothing on a page of the dashboard is moved by what is answered later, in whatever order', async ({
  page,
  shop
}) => {
  await signIn(page, shop, 'customer')
  await watchShifts(page)
  await countCalls(page)
  await anOrder(shop)
  // More sessions than the placeholder has room for.
  for (let n = 0; n < 16; n++) await (await signedIn(shop, 'customer')).dispose()
  for (const [width, inOrder] of [
    [390, (calls: RegExp[]) => calls.toReversed()],
    [1440, (calls: RegExp[]) => calls]
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    for (const [path, calls] of PAGES) {
      await openInOrder(page, `${shop.url}/dashboard${path}`, inOrder(calls))
      expect.soft(await shiftOf(page), `${path} at ${width} px: ${await movedIn(page)}`).toBeLessThanOrEqual(0.02)
    }
  }
})

test('nothing in the shop is moved by late answers on the widest window', async ({ page, shop }) => {
  await page.setViewportSize({ width: 2560, height: 1080 })
  await watchShifts(page)
  await countCalls(page)
  for (const path of ['/', '/product', '/product?id=1', '/status']) {
    await openInOrder(page, shop.url + path, [/\/api\//])
    expect.soft(await shiftOf(page), `${path}: ${await movedIn(page)}`).toBeLessThanOrEqual(0.05)
  }
})
