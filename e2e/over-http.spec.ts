import type { Envelope, Order, Product, RuleStock } from '@netlet/contract'
import type { APIRequestContext } from '@playwright/test'
import { curl, proxyUrl } from './curl.ts'
import { expect, test, type RunningShop } from './shop.ts'

async function call<T>(
  request: APIRequestContext,
  shop: RunningShop,
  method: 'get' | 'post',
  path: string,
  data?: object
): Promise<T> {
  const reply = await request[method](`${shop.url}${path}`, data ? { data } : {})
  const envelope = (await reply.json()) as Envelope<T>
  expect(envelope, `${method} ${path}`).toMatchObject({ code: 2000 })
  return envelope.data
}

test('a script buys a plan and uses its proxies', async ({ request, shop }) => {
  const { data: products } = await call<{ data: Product[] }>(request, shop, 'get', '/api/products/products/?limit=50')
  const product = products.find(one =>
    one.variants.some(variant => variant.cart_step === 8 && variant.variant_stock > 0)
  )
  const variant = product?.variants.find(one => one.cart_step === 8)
  if (!product || !variant) throw new Error('no plan in blocks of 8 is on sale')
  await call(request, shop, 'post', '/api/auth/login', shop.customer)

  const options = {
    option1: variant.variant_option1,
    option2: variant.variant_option2,
    option3: variant.variant_option3
  }
  const rules = await call<RuleStock[]>(request, shop, 'post', '/api/products/products/stock/', {
    product_id: product.id,
    option_selected: options
  })
  const [bought, notBought] = rules
  if (!bought || !notBought) throw new Error('there are no access rules')
  const placed = await call<{ checkout_url: string; order_id: string }>(request, shop, 'post', '/api/orders/checkout', {
    product_id: product.id,
    quantity: 8,
    option_selected: { ...options, acl_selected: [bought.acl_id] }
  })

  const checkout = await request.get(placed.checkout_url)
  await request.post(`${checkout.url()}/pay`)
  const readOrder = async () => {
    const list = await call<{ data: Order[] }>(request, shop, 'get', '/api/orders/order_list/?limit=100')
    return list.data.find(one => one.order_id === placed.order_id)
  }
  await expect.poll(readOrder).toMatchObject({ state: 'delivered', pay_status: 1, delivery_num: 8 })
  const order = await readOrder()
  const lines = await call<{ proxy_lines: string[] }>(
    request,
    shop,
    'get',
    `/api/orders/order_list/${order?.id}/copy_proxies/`
  )
  const [line = ''] = lines.proxy_lines
  expect(lines.proxy_lines).toHaveLength(8)

  const seen = await curl(proxyUrl(line), `${shop.platformUrl}/echo`)
  expect(JSON.parse(seen.body)).toMatchObject({ ip: line.split(':')[0] })
  expect((await curl(proxyUrl(line), `http://www.${notBought.domains[0]}/`)).status).toBe(403)
  expect((await curl(proxyUrl(line, 'wrong'), `${shop.platformUrl}/echo`)).status).toBe(407)
})
