import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Proxy } from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestClient } from '../../testing/client.ts'
import { inState, pay, place } from '../../testing/buying.ts'
import { startTestStack, type TestStack, type ShopProcess } from '../../testing/test-stack.ts'

const run = promisify(execFile)
let stack: TestStack
let shop: ShopProcess
let buyer: TestClient

beforeAll(async () => {
  stack = await startTestStack({ range: '127.20.0.0/24', processes: true })
  shop = await stack.startShop()
  buyer = await stack.customer(shop.url, 'buyer1')
}, 120_000)
afterAll(() => stack?.close())

const curl = async (
  proxy: Proxy,
  url: string,
  password = proxy.password
): Promise<{ status: number; body: string }> => {
  const { stdout } = await run('curl', [
    '-s',
    '-m',
    '10',
    '-w',
    '\n%{http_code}',
    '-x',
    `http://${proxy.username}:${password}@${proxy.ip}:${proxy.port}`,
    url
  ])
  const at = stdout.lastIndexOf('\n')
  return { status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) }
}

test('a customer buys a plan, pays on the platform, and the proxies work', async () => {
  const [bought = 0] = stack.rules
  const placed = await place(stack, buyer, 8, [bought])
  expect(placed.msg).toBe('success')
  await pay(placed.data.checkout_url)
  const order = await inState(stack, buyer, placed.data.order_id, 'delivered')
  expect(order).toMatchObject({ pay_status: 1, delivery_num: 8, proxy_num: 8, amount: '20.00' })

  const detail = await buyer.get<{ proxy_list: Proxy[]; total: number }>(
    `/api/orders/order_list/${order.id}/get_proxy_detail/?limit=20&offset=0`
  )
  expect(detail.data.total).toBe(8)
  const [proxy] = detail.data.proxy_list
  if (!proxy) throw new Error('no proxy')
  const echo = await curl(proxy, `${stack.platform.url}/echo`)
  expect(JSON.parse(echo.body)).toMatchObject({ ip: proxy.ip })
  expect((await curl(proxy, 'http://rule2.test/')).status).toBe(403)
  expect((await curl(proxy, 'http://shop.rule3.test/')).status).toBe(403)
  expect((await curl(proxy, `${stack.platform.url}/echo`, 'wrong')).status).toBe(407)
  const lines = await buyer.get<{ proxy_lines: string[]; proxy_count: number; filename: string }>(
    `/api/orders/order_list/${order.id}/export_proxies/`
  )
  expect(lines.data.proxy_lines[0]).toBe(`${proxy.ip}:${proxy.port}:${proxy.username}:${proxy.password}`)
  expect(lines.data).toMatchObject({ proxy_count: 8, filename: `order_${order.id}_proxies.txt` })
})
