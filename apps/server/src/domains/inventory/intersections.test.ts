import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sqlState } from '../../infra/db/client.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { addRule } from './inventory.fixture.ts'
import { audit, deniedDomains, stockByRule, stockForRules, release, reserve } from './index.ts'
import { sharedAddresses } from './overlaps.ts'
import { inventoryRoutes } from './routes.ts'
import { addStock, ruleCalls } from './rule-calls.fixture.ts'

let world: TestShop
let rules: ReturnType<typeof ruleCalls>
const orderNumbers = (_db: unknown, ids: number[]) => Promise.resolve(new Map(ids.map(id => [id, `NL-${id}`])))

beforeAll(async () => {
  world = await startTestShop({
    routes: (mount, shop) => inventoryRoutes(mount, shop, { onRulesChanged: () => undefined, orderNumbers })
  })
  rules = ruleCalls(await world.admin())
})

afterAll(async () => {
  expect(await audit(world.ctx.db)).toEqual({ differences: 0, doubleLeased: 0 })
  await world.close()
})

const denied = (...bought: number[]) => deniedDomains(world.ctx.db, { bought })

describe('rules of two levels, if the broader one won', () => {
  test('never share an address between two orders, as stock, by reservation or past it', async () => {
    const { db } = world.ctx
    const broad = await rules.add('Broad', ['broad.test'])
    const low = await rules.add('Broad low', ['low.broad.test'], [{ rule_id: broad, winner: 'broad' }])
    const apart = await addRule(db, 'apart')
    const { groupId, orders } = await addStock(world.ctx.db, 'shared', { cidr: '10.22.0.0/29', orders: 4 })
    const [first = 0, second = 0, third = 0, fourth = 0] = orders
    const take = (orderId: number, rules: number[], quantity: number, step = 1) =>
      reserve(db, { orderId, groupId, step, rules, quantity })
    expect((await take(first, [broad], 5)).ok).toBe(true)
    expect(await stockForRules(db, { groupId, step: 1, rules: [low] })).toBe(3)
    expect(await stockForRules(db, { groupId, step: 8, rules: [low] })).toBe(0)
    const byRule = new Map((await stockByRule(db, { groupId, step: 1 })).map(row => [row.ruleId, row.stock]))
    expect([broad, low, apart].map(id => byRule.get(id))).toEqual([3, 3, 8])
    const withApart = await stockByRule(db, { groupId, step: 1, selected: [apart] })
    expect(withApart.find(row => row.ruleId === low)?.stock).toBe(3)
    const withLow = await stockByRule(db, { groupId, step: 1, selected: [low] })
    expect([apart, broad, low].map(id => withLow.find(row => row.ruleId === id)?.stock)).toEqual([3, 3, 3])
    expect((await take(second, [low], 4)).ok).toBe(false)
    // One order may hold both on one address. An unrelated rule is not in the way.
    expect((await take(second, [broad, low], 3)).ok).toBe(true)
    expect((await take(third, [low], 1)).ok).toBe(false)
    expect((await take(fourth, [apart], 8, 8)).ok).toBe(true)
    expect(await sharedAddresses(db, [[broad, low]])).toEqual([])
    // The database refuses a write that bypasses the reservation.
    const past = db.transaction(async tx => {
      const { rows } = await tx.execute<{ id: number }>(sql`
        insert into leases (created_at, order_id, group_id, step, rules, blocks)
        values (now(), ${third}, ${groupId}, 1, ${sql.param([low])}::int[], 1) returning id`)
      await tx.execute(sql`
        insert into lease_blocks (leased_at, lease_id, chunk_id, start, length, rules)
        select clock_timestamp(), ${rows[0]?.id}::bigint, chunk_id, start, 1, ${sql.param([low])}::int[] from lease_blocks b
        join leases l on l.id = b.lease_id where l.order_id = ${first} limit 1`)
    })
    expect(sqlState(await past.catch((error: unknown) => error))).toBe('23P01')
    await release(db, { orderId: first })
    expect((await take(third, [low], 5)).ok).toBe(true)
    // Without the decision they no longer exclude each other.
    const again = await rules.put(low, 'Broad low', ['low.broad.test'], [{ rule_id: broad, winner: 'narrow' }])
    expect(again.code).toBe(2000)
    expect((await take(first, [broad], 5)).ok).toBe(true)
  })

  test('refuse two blocks of one statement that would share an address', async () => {
    const { db } = world.ctx
    const broad = await rules.add('One go', ['one-go.test'])
    const low = await rules.add('One go low', ['low.one-go.test'], [{ rule_id: broad, winner: 'broad' }])
    const { groupId, orders } = await addStock(world.ctx.db, 'one go', { cidr: '10.23.0.0/32', orders: 2 })
    const insert = db.transaction(async tx => {
      const { rows } = await tx.execute<{ id: number }>(sql`
        insert into leases (created_at, order_id, group_id, step, rules, blocks) values
        (now(), ${orders[0]}, ${groupId}, 1, ${sql.param([broad])}::int[], 1), (now(), ${orders[1]}, ${groupId}, 1, ${sql.param([low])}::int[], 1)
        returning id`)
      await tx.execute(sql`
        insert into lease_blocks (leased_at, lease_id, chunk_id, start, length, rules)
        select clock_timestamp(), l.id, (select c.id from chunks c join cidrs r on r.id = c.cidr_id where r.cidr = '10.23.0.0/32'), 0, 1, l.rules
        from leases l where l.id in (${rows[0]?.id}, ${rows[1]?.id})`)
    })
    expect(sqlState(await insert.catch((error: unknown) => error))).toBe('23P01')
  })

  test('sell each address once, even to buyers of both at once', async () => {
    const { db } = world.ctx
    const broad = await rules.add('Storm', ['storm.test'])
    const low = await rules.add('Storm low', ['low.storm.test'], [{ rule_id: broad, winner: 'broad' }])
    const { groupId, orders } = await addStock(world.ctx.db, 'storm', { cidr: '10.24.0.0/28', orders: 32 })
    const buys = orders.map((orderId, at) =>
      reserve(db, { orderId, groupId, step: 1, rules: [at % 2 === 0 ? broad : low], quantity: 1 })
    )
    const taken = await Promise.all(buys)
    expect(taken.filter(({ ok }) => ok)).toHaveLength(16)
    expect(await sharedAddresses(db, [[broad, low]])).toEqual([])
  })

  test('cannot share a site while two orders hold one address under them', async () => {
    const { db } = world.ctx
    const broad = await rules.add('Held', ['held.test'])
    const low = await rules.add('Held low', ['low.held.test'], [{ rule_id: broad, winner: 'narrow' }])
    const { groupId, orders } = await addStock(world.ctx.db, 'held', { cidr: '10.25.0.0/32', orders: 2 })
    const [first = 0, second = 0] = orders
    for (const [orderId, rule] of [
      [first, broad],
      [second, low]
    ] as const) {
      expect((await reserve(db, { orderId, groupId, step: 1, rules: [rule], quantity: 1 })).ok).toBe(true)
    }
    const decide = () => rules.put(low, 'Held low', ['low.held.test'], [{ rule_id: broad, winner: 'broad' }])
    expect(await decide()).toMatchObject({
      code: 409,
      msg: `The rules Held and Held low cannot share a domain while orders hold the same addresses under them: #${first}, #${second}. Let the narrower rule apply, or wait until these orders end.`,
      data: { reason: 'rules_share_addresses', shared: [{ orders: [first, second] }] }
    })
    expect((await denied(broad)).denied).toContain('low.held.test')
    const checked = await rules.check({
      acl_value: 'low.held.test',
      id: low,
      decisions: [{ rule_id: broad, winner: 'broad' }]
    })
    expect(checked.data.shared).toMatchObject([
      {
        orders: [
          { id: first, order_id: `NL-${first}` },
          { id: second, order_id: `NL-${second}` }
        ]
      }
    ])
    await release(db, { orderId: second })
    expect((await decide()).code).toBe(2000)
    expect((await reserve(db, { orderId: second, groupId, step: 1, rules: [low], quantity: 1 })).ok).toBe(false)
  })

  test('are also two that both win a domain of a third: saving that one is refused, and the check says so before', async () => {
    const { db } = world.ctx
    const outer = await rules.add('Outer', ['outer.test'])
    const inner = await rules.add('Inner', ['inner.outer.test'], [{ rule_id: outer, winner: 'narrow' }])
    const { groupId, orders } = await addStock(db, 'outer', { cidr: '10.26.0.0/32', orders: 2 })
    const [first = 0, second = 0] = orders
    await reserve(db, { orderId: first, groupId, step: 1, rules: [outer], quantity: 1 })
    await reserve(db, { orderId: second, groupId, step: 1, rules: [inner], quantity: 1 })
    const domain = 'third.inner.outer.test'
    const decisions = [outer, inner].map(rule_id => ({ rule_id, winner: 'broad' as const }))
    const checked = await rules.check({ acl_value: domain, decisions })
    expect(checked.data.shared).toMatchObject([
      { rules: [{ id: outer }, { id: inner }], orders: [{ id: first }, { id: second }] }
    ])
    expect(await rules.post('Third', [domain], decisions)).toMatchObject({
      code: 409,
      data: { reason: 'rules_share_addresses' }
    })
    await release(db, { orderId: second })
    expect((await rules.post('Third', [domain], decisions)).code).toBe(2000)
    expect((await reserve(db, { orderId: second, groupId, step: 1, rules: [inner], quantity: 1 })).ok).toBe(false)
  })
})
