import type { CodeKind, Coupon, GiftCard, LevelCode, Page } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { demoPlans } from '../../../../sandbox/src/shopify/catalogue.ts'
import {
  control,
  launch,
  newDataDir,
  openCart,
  removeDataDir,
  secrets,
  until
} from '../../../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { checkCodeOnPlatform, endCode } from './check-code.ts'

export type Discount = {
  code: string
  type: string
  value: string
  tags?: string[]
  usageLimit?: number | null
  oncePerCustomer?: boolean
  customers?: string[] | null
  endsAt?: string | null
}

/** A whole shop with a stand-in platform; the test runs its workers' jobs about codes one by one. */
export async function startPromotions() {
  const shop: TestShop = await startTestShop({})
  const dataDir = await newDataDir()
  const sandbox: Sandbox = await launch(dataDir, 'http://127.0.0.1:9')
  await writeSettings(shop.ctx, {
    shopify_shop_url: sandbox.url,
    shopify_app_key: secrets.accessToken,
    shopify_api_secret: secrets.appSecret
  })
  // Tests need not wait for timeouts and limits.
  const limits = { timeoutMs: 2000, sleep: async () => {} }
  shop.ctx.platformLimits = limits
  const admin: TestClient = await shop.admin()
  const waiting = async (queue: string) => {
    const { rows } = await shop.ctx.db.execute<{ id: string; data: unknown }>(
      sql`select id, data from pgboss.job where name = ${queue} and state in ('created', 'retry') order by created_on`
    )
    return rows
  }
  /** Runs the waiting jobs, each once. @returns their failures */
  async function work(queue: string, run: (data: never) => Promise<unknown>): Promise<string[]> {
    const failed: string[] = []
    for (const { id, data } of await waiting(queue)) {
      try {
        await run(data as never)
        await shop.ctx.db.execute(sql`delete from pgboss.job where id = ${id}`)
      } catch (error) {
        failed.push(String(error))
      }
    }
    return failed
  }
  return {
    shop,
    sandbox,
    admin,
    waiting,
    work,
    codes: () => work('platform-code', data => checkCodeOnPlatform(shop.ctx, data)),
    ends: () => work('end-platform-code', data => endCode(shop.ctx, data)),
    /** While calls hang, none is to succeed, so none has to wait long. */
    fault(kind: string, more: { next?: number; after?: number } = {}) {
      limits.timeoutMs = kind === 'timeout' ? 200 : 2000
      return control(sandbox, 'POST', '/graphql/faults', { kind, ...more })
    },
    /** Waits until a call has met the fault. */
    async hasMetFault(): Promise<void> {
      type Left = { fault: { next: number } | null }
      await until('the fault', async () => (await control<Left>(sandbox, 'GET', '/graphql/faults')).fault?.next === 0)
    },
    async discount(code: string): Promise<Discount | undefined> {
      const all = await control<Discount[]>(sandbox, 'GET', '/discounts')
      const found = all.filter(one => one.code.toLowerCase() === code.toLowerCase())
      if (found.length > 1) throw new Error(`${code} is there ${found.length} times`)
      return found[0]
    },
    async emailsOf({ customers }: Discount): Promise<string[] | null> {
      const all = await control<{ id: string; email: string }[]>(sandbox, 'GET', '/customers')
      return customers ? all.filter(one => customers.includes(one.id)).map(one => one.email) : null
    },
    /** Buys on the platform with these codes. @returns those with a discount */
    async buy(email: string, ...with_: string[]): Promise<string[]> {
      const plan = demoPlans[0]?.variants[1]?.id
      const cart = await openCart(sandbox, `/cart/${plan}:8?discount=${with_.join()}`)
      type Paid = { order: { discounts: { code: string }[] } }
      const token = new URL(cart).pathname.split('/').at(-1)
      const { order } = await control<Paid>(sandbox, 'POST', `/checkouts/${token}/pay`, { email })
      return order.discounts.map(one => one.code)
    },
    async addCoupon(form: Partial<Coupon> & Pick<Coupon, 'username' | 'code'>): Promise<Coupon> {
      const made = await admin.post<Coupon>('/api/rewards/coupon_code/', { discount: '5.00', code_type: 1, ...form })
      if (made.code !== 2000) throw new Error(made.msg)
      return made.data
    },
    async addCard(code: string): Promise<GiftCard> {
      const made = await admin.post<GiftCard>('/api/rewards/gift_card/', { mount: '25.00', code, point: 10 })
      if (made.code !== 2000) throw new Error(made.msg)
      return made.data
    },
    coupon: async (id: number) => (await admin.get<Page<Coupon>>(`/api/rewards/coupon_code/?id=${id}`)).data.data[0],
    card: async (id: number) => (await admin.get<Page<GiftCard>>(`/api/rewards/gift_card/?id=${id}`)).data.data[0],
    level: async (id: number) => (await admin.get<Page<LevelCode>>(`/api/rewards/level_code/?id=${id}`)).data.data[0],
    ask: (kind: CodeKind, id: number, act: 'check' | 'create') =>
      admin.post<{ status: string }>('/api/rewards/codes/on_platform/', { kind, id, act }),
    async close() {
      await shop.close()
      await sandbox.close()
      await removeDataDir(dataDir)
    }
  }
}
export type Promotions = Awaited<ReturnType<typeof startPromotions>>
