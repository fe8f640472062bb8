import type { Envelope, Order, Product, RuleStock, SyncRun } from '@netlet/contract'
import { request as requests, type APIRequestContext, type Page } from '@playwright/test'
import { expect, type RunningShop } from './shop.ts'

export async function call<T>(
  request: APIRequestContext,
  method: 'get' | 'post' | 'put' | 'delete',
  path: string,
  data?: object
): Promise<T> {
  const reply = await request[method](path, data ? { data } : {})
  const envelope = (await reply.json()) as Envelope<T>
  expect(envelope, `${method} ${path}`).toMatchObject({ code: 2000 })
  return envelope.data
}

type Account = RunningShop['customer']

/** Makes calls as one of the shop's accounts. To be disposed of. */
export async function signedIn(shop: RunningShop, who: 'customer' | 'admin' | Account): Promise<APIRequestContext> {
  const request = await requests.newContext({ baseURL: shop.url })
  await call(request, 'post', '/api/auth/login', typeof who === 'string' ? shop[who] : who)
  return request
}

/** No sync with the platform goes on or waits for somebody any more: another test may have left one. */
export async function endSyncs(shop: RunningShop): Promise<void> {
  const [admin, path] = [await signedIn(shop, 'admin'), '/api/products/sync/runs/']
  for (const { id, ended_at } of await call<SyncRun[]>(admin, 'get', path))
    if (ended_at === null) await call(admin, 'post', `${path}${id}/cancel/`)
  await admin.dispose()
}

async function signIn(page: Page, shop: RunningShop, data: Account): Promise<void> {
  const reply = await page.request.post(`${shop.url}/api/auth/login`, { data })
  expect(reply.ok()).toBe(true)
}

/** Signs the browser's page in as the administrator. */
export const asAdmin = (page: Page, shop: RunningShop): Promise<void> => signIn(page, shop, shop.admin)

/** Signs the browser's page in as the shop's customer. */
export const asCustomer = (page: Page, shop: RunningShop): Promise<void> => signIn(page, shop, shop.customer)

type Buying = {
  pay?: boolean
  /** The platform takes the payment in another currency, so that nothing is delivered. */
  currency?: string
  /** How many blocks of eight. */
  blocks?: number
  /** With every access rule of the plan, but one that nobody buys; with one of them otherwise. */
  allRules?: boolean
  /** The demo customer, unless it is somebody else. */
  by?: Account
}

/** A rule that no test buys, so that one can delete it: others may have used the same shop before. */
const UNSOLD_RULE = 'Steam'

/** Buys a plan; paid and delivered unless `pay` is false. */
export async function buy(
  shop: RunningShop,
  { pay = true, currency, blocks = 1, allRules = false, by }: Buying = {}
): Promise<Order> {
  const request = await signedIn(shop, by ?? 'customer')
  try {
    const { data: products } = await call<{ data: Product[] }>(request, 'get', '/api/products/products/?limit=50')
    const variants = products.flatMap(product => product.variants.map(variant => ({ product, variant })))
    const found = variants.find(({ variant }) => variant.cart_step === 8 && variant.variant_stock >= 64)
    if (!found) throw new Error('no plan in blocks of 8 is on sale')
    const { product, variant } = found
    const options = {
      option1: variant.variant_option1,
      option2: variant.variant_option2,
      option3: variant.variant_option3
    }
    const rules = await call<RuleStock[]>(request, 'post', '/api/products/products/stock/', {
      product_id: product.id,
      option_selected: options
    })
    const offered = rules.filter(rule => rule.acl_name !== UNSOLD_RULE).map(rule => rule.acl_id)
    const placed = await call<{ checkout_url: string; order_id: string }>(request, 'post', '/api/orders/checkout', {
      product_id: product.id,
      quantity: 8 * blocks,
      option_selected: { ...options, acl_selected: offered.slice(0, allRules ? undefined : 1) }
    })
    if (pay) {
      const checkout = await request.get(placed.checkout_url)
      const token = checkout.url().split('/').at(-1)
      if (currency) await request.post(`${shop.platformUrl}/sandbox/checkouts/${token}/pay`, { data: { currency } })
      else await request.post(`${checkout.url()}/pay`)
    }
    const state = currency ? 'failed' : pay ? 'delivered' : 'placed'
    const read = async () => {
      const list = await call<{ data: Order[] }>(request, 'get', '/api/orders/order_list/?limit=100')
      return list.data.find(one => one.order_id === placed.order_id)
    }
    await expect.poll(read).toMatchObject({ state, task: null })
    const order = await read()
    if (!order) throw new Error('the order is gone')
    return order
  } finally {
    await request.dispose()
  }
}

/** Chooses an entry of a row's menu with the keyboard alone. */
export async function chooseByKeyboard(page: Page, button: string, entry: string): Promise<void> {
  await page.getByRole('button', { name: button }).focus()
  await page.keyboard.press('Enter')
  const item = page.getByRole('menuitem', { name: entry, exact: true })
  // What cannot be done while something runs can be once the list has heard of its end.
  await expect(item).toBeEnabled()
  // The menu takes the focus itself; a key that comes before that is lost.
  await expect(page.locator('[role="menuitem"]:focus')).toHaveCount(1)
  for (let step = 0; step < 12; step++) {
    if ((await page.locator('[role="menuitem"]:focus').innerText()) === entry) break
    await page.keyboard.press('ArrowDown')
  }
  await expect(item).toBeFocused()
  await page.keyboard.press('Enter')
  // It gives the focus back as it goes.
  await expect(page.getByRole('menu')).toHaveCount(0)
}

/** Answers the question that is open with the keyboard alone. */
export async function answerByKeyboard(page: Page, answer: 'YES' | 'NO'): Promise<void> {
  const dialog = page.getByRole('dialog').last()
  await expect(dialog.getByRole('button', { name: 'NO' })).toBeFocused()
  if (answer === 'YES') await page.keyboard.press('Tab')
  await expect(dialog.getByRole('button', { name: answer })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(dialog).toBeHidden()
}

/** Chooses an entry of a row's menu. */
export async function choose(page: Page, row: string, entry: string): Promise<void> {
  const name = `Actions: ${row}`
  await page.getByRole('button', { name, exact: true }).click()
  // Another row's menu may still be closing.
  await page.getByRole('menu', { name, exact: true }).getByRole('menuitem', { name: entry, exact: true }).click()
}

/** Answers the question with this title, which says all of `words`. */
export async function answer(
  page: Page,
  title: string,
  yes: 'YES' | 'NO',
  ...words: (string | RegExp)[]
): Promise<void> {
  const question = page.getByRole('dialog', { name: title, exact: true })
  for (const one of words) await expect(question).toContainText(one)
  await question.getByRole('button', { name: yes, exact: true }).click()
  await expect(question).toBeHidden()
}

/**
 * A message says exactly this. It is closed, so that it is not taken for the next one.
 * @param act what it comes of; it is waited for meanwhile, since a short one may be gone again once that has ended
 */
export async function said(page: Page, words: string, act?: () => Promise<unknown>): Promise<void> {
  const message = page.getByRole('alert').filter({ has: page.getByText(words, { exact: true }) })
  await Promise.all([message.waitFor(), act?.()])
  // It may go by itself before it is reached.
  await message
    .getByRole('button', { name: 'Close' })
    .click({ timeout: 4000 })
    .catch(() => undefined)
  // It stays under the pointer.
  await page.mouse.move(0, 0)
  await expect(message).toHaveCount(0)
}

/**
 * Fails calls between browser and shop: as a gateway without the shop behind it does, or by cutting the connection.
 * @returns ends it
 */
export async function failing(
  page: Page,
  path: RegExp,
  { method = 'GET', lost = false } = {}
): Promise<() => Promise<void>> {
  await page.route(path, async route => {
    if (route.request().method() !== method) return route.fallback()
    if (lost) return route.abort('connectionreset')
    return route.fulfill({ status: 503, contentType: 'text/html', body: '<h1>503 Service Unavailable</h1>' })
  })
  return () => page.unroute(path)
}
