import { OPERATOR_ROLES, routes, type AttentionItem, type OperatorRole, type ReplyOf } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { expect } from 'vitest'
import { MINUTE } from '../../infra/clock.ts'
import type { TestClient } from '../../testing/client.ts'
import { ORDERED } from '../../testing/ordered.ts'
import { startTestShop } from '../../testing/shop.ts'
import { users } from '../accounts/tables.ts'
import { products, variants } from '../catalog/tables.ts'
import { addGroup, addRule, addServer, inTransaction } from '../inventory/inventory.fixture.ts'
import { addCidr } from '../inventory/index.ts'
import { orders } from '../orders/tables.ts'
import { addRow, addRows } from '../../testing/rows.ts'

type Panels = (typeof routes)['home']
export type Home = Awaited<ReturnType<typeof startHome>>

export const START = new Date('2026-03-14T12:00:00Z')

/** A shop with two products on one server, and an operator of each role who reads the home screen's panels. */
export async function startHome() {
  let now = START
  const shop = await startTestShop({ now: () => now })
  const clients = new Map<OperatorRole, TestClient>()
  let count = 0
  const { db } = shop.ctx
  for (const operatorRole of OPERATOR_ROLES) {
    const admin = await shop.admin({ username: operatorRole })
    await db.update(users).set({ operatorRole }).where(eq(users.id, admin.user.id))
    clients.set(operatorRole, admin)
  }
  const serverId = await addServer(db, 'here')
  const groupId = await addGroup(db, 'New York', [serverId])
  await addGroup(db, 'Nowhere', [])
  await addRule(db, 'Nike')
  await addRule(db, 'Adidas')
  await inTransaction(db, addCidr, { cidr: '10.1.0.0/28', serverId })
  await db.execute(sql`update servers set connected = true`)
  await addRows(shop.ctx, products, [
    { platformId: '1', name: 'Plan', active: true },
    { platformId: '2', name: 'Small', active: true }
  ])
  await addRows(shop.ctx, variants, [
    { productId: 1, platformId: '3', name: 'One', price: '2.00', serverGroupId: groupId, cartStep: 1 },
    { productId: 2, platformId: '4', name: 'Block', price: '2.00', serverGroupId: groupId, cartStep: 8 }
  ])

  const as = (role: OperatorRole): TestClient => {
    const client = clients.get(role)
    if (!client) throw new Error(`nobody is ${role}`)
    return client
  }

  const place = async (change: Partial<typeof orders.$inferInsert> = {}): Promise<number> => {
    count += 1
    const row = await addRow(shop.ctx, orders, {
      publicId: `NL-${count}`,
      userId: 1,
      productId: 1,
      variantId: 1,
      serverGroupId: 1,
      ...ORDERED,
      variantName: 'One',
      rules: [1],
      reservedUntil: START,
      createdAt: START,
      proxyUsername: `p${count}`,
      ...change
    })
    return row.id
  }

  const wait = (ms: number) => {
    now = new Date(now.getTime() + ms)
  }
  /** Reads a panel after all cached replies have expired. */
  const ask = async <K extends keyof Panels>(panel: K, role: OperatorRole = 'owner'): Promise<ReplyOf<Panels[K]>> => {
    wait(MINUTE)
    const reply = await as(role).get(routes.home[panel].path)
    expect(reply).toMatchObject({ code: 2000 })
    return reply.data as ReplyOf<Panels[K]>
  }

  return {
    shop,
    serverId,
    as,
    place,
    ask,
    now: () => now,
    wait,
    countOf: async (what: AttentionItem) => (await ask('attention')).find(need => need.what === what)?.count,
    totalOf: async (path: string) => ((await as('owner').get(path)).data as { total: number }).total,
    close: () => shop.close()
  }
}
