import { afterEach, beforeEach, expect, test } from 'vitest'
import { control, launch, newDataDir, openCart, removeDataDir, startReceiver, until } from '../testing/harness.ts'
import type { Sandbox } from '../sandbox.ts'
import { demoPlans, demoRules } from './catalogue.ts'
import type { PlatformOrder } from './state.ts'

const plan = demoPlans[0]?.variants[1]?.id
const cart = `/cart/${plan}:8,${demoRules[0]?.variantId}:8?checkout[email]=buyer@example.test&note=hello&attributes[order_id]=77&discount=GOLD8`

let dir: string
let shop: Awaited<ReturnType<typeof startReceiver>>
let sandbox: Sandbox

beforeEach(async () => {
  dir = await newDataDir()
  shop = await startReceiver()
  sandbox = await launch(dir, shop.url)
})
afterEach(async () => {
  await sandbox.close()
  await shop.close()
  await removeDataDir(dir)
})

const pay = (checkout: string, body?: string) =>
  fetch(`${checkout}/pay`, {
    method: 'POST',
    redirect: 'manual',
    ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
  })

test('the permalink leads to a page with lines, discount, total and a form that posts to …/pay', async () => {
  const checkout = await openCart(sandbox, cart)
  const page = await (await fetch(checkout)).text()
  expect(page).toContain('Metro ISP')
  expect(page).toContain('Nike')
  expect(page).toContain('GOLD8')
  // 20.16 less 8 % (1.6128)
  expect(page).toContain('Pay $18.55')
  expect(page).toContain('value="buyer@example.test"')
  expect(/<form method="post" action="([^"]+)"/.exec(page)?.[1]).toBe(`${new URL(checkout).pathname}/pay`)
})

test('a script’s bare POST pays: order number 1001, our attribute, the discount, one signed webhook', async () => {
  const checkout = await openCart(sandbox, cart)
  const paid = await pay(checkout)
  expect(paid.status).toBe(303)
  const thanks = await fetch(new URL(paid.headers.get('location') ?? '', sandbox.url))
  expect(await thanks.text()).toContain('order #1001 is paid')
  await until('the webhook', () => shop.received.length > 0)
  const order = JSON.parse(shop.received[0]?.body.toString() ?? '')
  expect(shop.received[0]?.path).toBe('/api/orders/pay_webhook')
  expect(order).toMatchObject({
    order_number: 1001,
    email: 'buyer@example.test',
    note: 'hello',
    note_attributes: [{ name: 'order_id', value: '77' }],
    total_price: '18.55',
    total_discounts: '1.61',
    discount_codes: [{ code: 'GOLD8', amount: '1.61', type: 'percentage' }],
    financial_status: 'paid'
  })
})

test('two clicks at once pay once', async () => {
  const checkout = await openCart(sandbox, cart)
  const answers = await Promise.all([pay(checkout), pay(checkout), pay(checkout, 'email=other%40example.test')])
  expect(answers.map(one => one.status)).toEqual([303, 303, 303])
  expect(await control<PlatformOrder[]>(sandbox, 'GET', '/orders')).toHaveLength(1)
  await until('the webhook', () => shop.received.length > 0)
  const { deliveries } = await control<{ deliveries: unknown[] }>(sandbox, 'GET', '/webhooks')
  expect(deliveries).toHaveLength(1)
})

test('the email of the form takes precedence over that of the link', async () => {
  await pay(await openCart(sandbox, cart), 'email=new%40example.test')
  const [order] = await control<PlatformOrder[]>(sandbox, 'GET', '/orders')
  expect(order?.email).toBe('new@example.test')
})

test('on request less is paid, and the order has that amount', async () => {
  const token = new URL(await openCart(sandbox, cart)).pathname.split('/').at(-1)
  await control(sandbox, 'POST', `/checkouts/${token}/pay`, { amount: '1.00' })
  const order = JSON.parse((await until('the webhook', () => shop.received[0])).body.toString())
  expect(order).toMatchObject({ total_price: '1.00', subtotal_price: '1.00', discount_codes: [] })
})

test('a new code is valid from the next checkout on', async () => {
  await control(sandbox, 'POST', '/discounts', { code: 'HALF', type: 'percentage', value: '50' })
  const page = await (await fetch(await openCart(sandbox, `/cart/${plan}:8?discount=HALF,NOSUCH`))).text()
  expect(page).toContain('Pay $8.08')
  expect(page).toContain('NOSUCH')
})

test('a note cannot add markup to the page', async () => {
  const hostile = encodeURIComponent('<script>alert(1)</script>')
  const response = await fetch(await openCart(sandbox, `/cart/${plan}:1?note=${hostile}`))
  expect(await response.text()).not.toContain('<script')
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
})

test.each(['/cart/', '/cart/abc', '/cart/1:0', '/cart/1:1', `/cart/${plan}:-1`])('no cart at %s', async path => {
  expect((await fetch(`${sandbox.url}${path}`, { redirect: 'manual' })).status).toBe(404)
})

test('a cart with every rule is not too long', async () => {
  const all = [plan, ...demoRules.map(one => one.variantId)].map(id => `${id}:256`).join(',')
  expect(await (await fetch(await openCart(sandbox, `/cart/${all}`))).text()).toContain('Steam')
})

test('orders and checkouts survive a restart', async () => {
  const checkout = await openCart(sandbox, cart)
  await pay(checkout)
  await sandbox.close()
  sandbox = await launch(dir, shop.url)
  const [order] = await control<PlatformOrder[]>(sandbox, 'GET', '/orders')
  expect(order?.number).toBe(1001)
  const again = await pay(`${sandbox.url}${new URL(checkout).pathname}`)
  expect(again.status).toBe(303)
  expect(await control<PlatformOrder[]>(sandbox, 'GET', '/orders')).toHaveLength(1)
})

test('the limits of a code apply: uses, once per buyer, holders, end, and other codes', async () => {
  const make = (code: string, more: object) =>
    control(sandbox, 'POST', '/discounts', { code, type: 'fixed_amount', value: '1', ...more })
  await make('ONCE', { oncePerCustomer: true })
  await make('TWICE', { usageLimit: 2 })
  await make('OVER', { endsAt: '2026-01-01T00:00:00Z' })
  await make('ALONE', { combines: false })
  const open = (codes: string, email: string) =>
    openCart(sandbox, `/cart/${plan}:8?discount=${codes}&checkout[email]=${email}`)
  const codesPaid = async (codes: string, email: string) => {
    await pay(await open(codes, email))
    const [order] = await control<PlatformOrder[]>(sandbox, 'GET', '/orders')
    return order?.discounts.map(one => one.code)
  }
  expect(await codesPaid('ONCE,TWICE,OVER', 'a@example.test')).toEqual(['ONCE', 'TWICE'])
  expect(await codesPaid('once,TWICE', 'A@example.test')).toEqual(['TWICE'])
  expect(await codesPaid('ONCE,TWICE', 'b@example.test')).toEqual(['ONCE'])
  expect(await codesPaid('WELCOME10,ALONE', 'c@example.test')).toEqual(['WELCOME10'])
  const page = await (await fetch(await open('ONCE,OVER', 'b@example.test'))).text()
  expect(page).toContain('was used by this e-mail address already')
  expect(page).toContain('does not count now')
})

test('a code that the buyer types is applied, and the form that pays stays the first', async () => {
  const checkout = await openCart(sandbox, `/cart/${plan}:8`)
  const body = 'code=GOLD8'
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  await fetch(`${checkout}/codes`, { method: 'POST', body, headers, redirect: 'manual' })
  const page = await (await fetch(checkout)).text()
  expect(page).toContain('Discount <code>GOLD8</code>')
  expect(/<form method="post" action="([^"]+)"/.exec(page)?.[1]).toBe(`${new URL(checkout).pathname}/pay`)
})

test('a product’s page sets status and Online Store, which decide over the checkout and are sent as webhooks', async () => {
  const [demo] = demoPlans
  const set = async (fields: Record<string, string>) => {
    const reply = await fetch(`${sandbox.url}/products/${demo?.id}/sale`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(fields).toString()
    })
    const opened = await fetch(`${sandbox.url}/cart/${plan}:8`, { redirect: 'manual' })
    return [reply.status, opened.status]
  }
  expect(await set({ status: 'UNLISTED', published: 'on' })).toEqual([303, 302])
  expect(await set({ status: 'UNLISTED' })).toEqual([303, 404])
  expect(await set({ status: 'DRAFT', published: 'on' })).toEqual([303, 404])
  expect(await set({ status: 'SOLD' })).toEqual([404, 404])
  expect(await set({ status: 'ACTIVE', published: 'on' })).toEqual([303, 302])
  await until('four webhooks', () => shop.received.length === 4)
  const told = shop.received.map(({ body }) => JSON.parse(body.toString()) as { status: string; published_at: unknown })
  const seen = told.map(({ status, published_at: at }) => `${status} ${at === null ? 'nowhere' : 'in the store'}`)
  expect(seen.toSorted()).toEqual(
    ['active in the store', 'draft in the store', 'unlisted in the store', 'unlisted nowhere'].toSorted()
  )
  expect(await (await fetch(`${sandbox.url}/products`)).text()).toContain('value="UNLISTED"')
})

test('an import on the page sends each product as often as requested', async () => {
  const reply = await fetch(`${sandbox.url}/products/import`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'times=2'
  })
  expect(reply.status).toBe(303)
  await until('20 webhooks', () => shop.received.length === 20)
})

test('a variant that is counted gets fewer by each sale; a cart gets what is left, and none is closed', async () => {
  const product = demoPlans[0]?.id ?? ''
  await control(sandbox, 'PATCH', `/products/${product}`, { variants: [{ id: plan, stock: 12 }], silent: true })
  const of = async (count: number) => {
    const checkout = await openCart(sandbox, `/cart/${plan}:${count}`)
    const { order } = await control<{ order: PlatformOrder }>(sandbox, 'POST', `${new URL(checkout).pathname}/pay`, {})
    return order.lines.map(({ quantity }) => quantity)
  }
  expect([await of(8), await of(8)]).toEqual([[8], [4]])
  const closed = await fetch(`${sandbox.url}/cart/${plan}:8`, { redirect: 'manual' })
  expect(closed.status).toBe(404)
  await until('the webhooks of the sales', () => {
    const told = shop.received.filter(({ path }) => path === '/api/orders/product_webhook')
    return told.some(({ body }) => body.includes('"inventory_quantity":0')) && told.length === 2
  })
  // The page of the products counts no variant where the field is empty.
  const form = new URLSearchParams({ status: 'ACTIVE', published: 'on', stock: '' })
  await fetch(`${sandbox.url}/products/${product}/sale`, { method: 'POST', body: form })
  expect(await of(8)).toEqual([8])
})
