import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditLog } from '../../infra/tables.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { audit, deniedDomains, release, reserve } from './index.ts'
import { inventoryRoutes } from './routes.ts'
import { addStock, type Decision, ruleCalls } from './rule-calls.fixture.ts'
import { aclRules, ruleIntersections, ruleOverlaps } from './tables.ts'

let world: TestShop
let rules: ReturnType<typeof ruleCalls>
let changes = 0

beforeAll(async () => {
  world = await startTestShop({
    routes: (mount, shop) => inventoryRoutes(mount, shop, { onRulesChanged: () => void changes++ })
  })
  rules = ruleCalls(await world.admin())
})

afterAll(async () => {
  expect(await audit(world.ctx.db)).toEqual({ differences: 0, doubleLeased: 0 })
  await world.close()
})

const denied = (...bought: number[]) => deniedDomains(world.ctx.db, { bought })

describe('a domain that another rule has', () => {
  test('is refused at the list of domains, with the rule and the domain named', async () => {
    const first = await rules.add('Adidas', ['adidas.test', 'adidas.example', 'own.adidas-shop.test'])
    const refused = await rules.post('Sports', ['ADIDAS.test', '*.adidas.example', 'puma.test'])
    const msg = 'adidas.example is already in the access rule Adidas. Domains that other rules have: 2'
    expect(refused).toMatchObject({
      code: 409,
      msg,
      data: {
        errors: { acl_value: msg },
        duplicates: [
          { domain: 'adidas.example', rules: [{ id: first, name: 'Adidas' }] },
          { domain: 'adidas.test', rules: [{ id: first, name: 'Adidas' }] }
        ]
      }
    })
    const other = await rules.add('Sports', ['puma.test'])
    const edited = await rules.put(other, 'Sports', ['puma.test', 'adidas.test'])
    expect(edited).toMatchObject({
      code: 409,
      msg: 'adidas.test is already in the access rule Adidas. Domains that other rules have: 1'
    })
    const [row] = await world.ctx.db.select().from(aclRules).where(eq(aclRules.id, other))
    expect(row?.domains).toEqual(['puma.test'])
    // A deleted rule frees its domains.
    expect((await rules.remove(first)).code).toBe(2000)
    expect((await rules.put(other, 'Sports', ['puma.test', 'adidas.test'])).code).toBe(2000)
  })

  test('gets into one rule only, however many are saved at once', async () => {
    const replies = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(n => rules.post(`Race ${n}`, ['race.test', `race${n}.test`]))
    )
    expect(replies.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([409, 409, 409, 409, 409, 2000])
    const edits = [await rules.add('Edit 1', ['edit1.test']), await rules.add('Edit 2', ['edit2.test'])]
    const both = await Promise.all(edits.map((id, at) => rules.put(id, `Edit ${at + 1}`, ['edit.test'])))
    expect(both.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([409, 2000])
  })

  test('from before it was refused is reported, is sold to one customer an address, and goes by an edit', async () => {
    const { db } = world.ctx
    const one = await rules.add('Old one', ['old-one.test'])
    const two = await rules.add('Old two', ['old-two.test'])
    // As an older database has them, and as its migration leaves it.
    await db
      .update(aclRules)
      .set({ domains: sql`domains || '{twice.test}'` })
      .where(sql`id in (${one}, ${two})`)
    await db.insert(ruleIntersections).values([
      { ruleId: one, otherId: two },
      { ruleId: two, otherId: one }
    ])
    const report = await rules.conflicts()
    const sides = [
      { id: one, name: 'Old one' },
      { id: two, name: 'Old two' }
    ]
    expect(report.duplicates).toEqual([{ domain: 'twice.test', rules: sides }])
    expect(report.rules).toEqual(sides.map(side => ({ ...side, orders: 0 })))
    // Buyers of either still reach it.
    expect((await denied(one)).denied).not.toContain('twice.test')
    expect((await denied(two)).denied).not.toContain('twice.test')
    const { groupId, orders } = await addStock(world.ctx.db, 'old', { cidr: '10.20.0.0/32', orders: 2 })
    const [first = 0, second = 0] = orders
    expect((await reserve(db, { orderId: first, groupId, step: 1, rules: [one], quantity: 1 })).ok).toBe(true)
    expect((await reserve(db, { orderId: second, groupId, step: 1, rules: [two], quantity: 1 })).ok).toBe(false)
    // Its other fields can be edited as usual, its domains only without the conflict.
    const [row] = await db.select().from(aclRules).where(eq(aclRules.id, one))
    await db
      .update(aclRules)
      .set({ aclValue: row?.domains.join('\n') ?? '' })
      .where(eq(aclRules.id, one))
    const same = ['old-one.test', 'twice.test']
    expect((await rules.put(one, 'Renamed', same)).code).toBe(2000)
    expect((await rules.put(one, 'Renamed', [...same, 'more.test'])).code).toBe(409)
    expect((await rules.put(one, 'Renamed', ['old-one.test'])).code).toBe(2000)
    expect((await rules.conflicts()).duplicate_total).toBe(0)
    expect((await reserve(db, { orderId: second, groupId, step: 1, rules: [two], quantity: 1 })).ok).toBe(true)
  })
})

describe('a subdomain of another rule', () => {
  test('is not saved before it is decided; the refusal says what each choice means', async () => {
    const nike = await rules.add('Nike', ['nike.com'])
    const refused = await rules.post('Nike shop', ['shop.nike.com', 'nikeshop.test'])
    expect(refused).toMatchObject({
      code: 409,
      data: {
        reason: 'overlap_undecided',
        overlap_total: 1,
        overlaps: [
          {
            domain: 'shop.nike.com',
            within: 'nike.com',
            narrow: { name: 'Nike shop' },
            broad: { id: nike, name: 'Nike' },
            winner: null,
            choices: [
              {
                winner: 'narrow',
                reason: 'overlap_narrow_wins',
                params: { domain: 'shop.nike.com', narrow: 'Nike shop', broad: 'Nike' },
                msg: 'shop.nike.com belongs only to Nike shop. Customers with Nike shop can access it. Customers with only Nike cannot.'
              },
              { winner: 'broad', reason: 'overlap_broad_wins' }
            ]
          }
        ]
      }
    })
    expect(refused.data.errors.acl_value).toBe(refused.msg)
    // A decision about another rule or another domain decides nothing here.
    for (const decision of [
      { rule_id: nike + 1000, winner: 'narrow' as const },
      { rule_id: nike, domain: 'nike.com', winner: 'narrow' as const }
    ]) {
      expect((await rules.post('Nike shop', ['shop.nike.com'], [decision])).code).toBe(409)
    }
    const [row] = await world.ctx.db.select().from(aclRules).where(eq(aclRules.name, 'Nike shop'))
    expect(row).toBeUndefined()

    const shop = await rules.add('Nike shop', ['shop.nike.com'], [{ rule_id: nike, winner: 'narrow' }])
    expect(await denied(nike)).toMatchObject({ allowed: [] })
    expect((await denied(nike)).denied).toContain('shop.nike.com')
    expect((await denied(shop)).allowed).toEqual(['shop.nike.com'])
    expect((await denied(shop)).denied).toContain('nike.com')
    expect((await denied()).denied).not.toContain('shop.nike.com')
    // The decision holds for later edits, also from the other side. A new overlap needs a decision.
    expect((await rules.put(shop, 'Nike shop', ['shop.nike.com', 'another.test'])).code).toBe(2000)
    expect((await rules.put(nike, 'Nike', ['nike.com', 'nike.example'])).code).toBe(2000)
    const more = await rules.put(shop, 'Nike shop', ['shop.nike.com', 'eu.nike.com'])
    expect(more.data.overlaps.map(overlap => overlap.domain)).toEqual(['eu.nike.com'])
    const entries = await world.ctx.db
      .select()
      .from(auditLog)
      .where(eq(auditLog.targetId, String(shop)))
    expect(JSON.stringify(entries[0])).toContain('"winner":"narrow"')
    expect((await rules.remove(shop)).code).toBe(2000)
    expect(await world.ctx.db.select().from(ruleOverlaps)).toEqual([])
  })

  test('is asked for if the broader rule comes second, and each domain can be decided separately', async () => {
    const low = await rules.add('Low', ['a.wide.test', 'b.wide.test', 'c.wide.test'])
    expect((await rules.post('Wide', ['wide.test'])).data.overlap_total).toBe(3)
    const decisions: Decision[] = [
      { rule_id: low, winner: 'narrow' },
      { rule_id: low, domain: 'b.wide.test', winner: 'broad' }
    ]
    const wide = await rules.add('Wide', ['wide.test'], decisions)
    const { denied: closed, allowed } = await denied(wide)
    expect([closed.filter(domain => domain.endsWith('wide.test')), allowed]).toEqual([
      ['a.wide.test', 'c.wide.test'],
      []
    ])
    expect((await denied(low)).allowed).toEqual(['a.wide.test', 'b.wide.test', 'c.wide.test'])
    const report = await rules.conflicts()
    expect(report.overlaps.map(({ domain, winner }) => [domain, winner])).toEqual([
      ['a.wide.test', 'narrow'],
      ['b.wide.test', 'broad'],
      ['c.wide.test', 'narrow']
    ])
  })

  test('that is changed goes to the agents, even if no domain has changed', async () => {
    const broad = await rules.add('Anew', ['anew.test'])
    const narrow = await rules.add('Anew low', ['low.anew.test'], [{ rule_id: broad, winner: 'narrow' }])
    const before = changes
    expect((await rules.put(narrow, 'Anew low', ['low.anew.test'])).code).toBe(2000)
    expect(changes).toBe(before)
    expect((await rules.put(broad, 'Anew', ['anew.test'], [{ rule_id: narrow, winner: 'broad' }])).code).toBe(2000)
    expect(changes).toBe(before + 1)
    expect((await denied(broad)).denied).not.toContain('low.anew.test')
  })

  test('with very many domains is decided at once', async () => {
    const many = Array.from({ length: 5000 }, (_, n) => `shop${n}.mass.test`)
    const broad = await rules.add('Mass', ['mass.test'])
    const refused = await rules.post('Mass shops', many)
    expect([refused.data.overlaps.length, refused.data.overlap_total]).toEqual([200, 5000])
    const narrow = await rules.add('Mass shops', many, [{ rule_id: broad, winner: 'narrow' }])
    expect((await denied(narrow)).allowed).toHaveLength(5000)
    expect((await rules.conflicts()).overlaps).toHaveLength(200)
    expect((await rules.remove(narrow)).code).toBe(2000)
  })
})

describe('a check', () => {
  test('shows the conflicts, overlaps and orders concerned, and saves nothing', async () => {
    const { db } = world.ctx
    const broad = await rules.add('Checked', ['checked.test', 'checked.example'])
    const { groupId, orders } = await addStock(world.ctx.db, 'check', { cidr: '10.21.0.0/30', orders: 2 })
    for (const orderId of orders) await reserve(db, { orderId, groupId, step: 1, rules: [broad], quantity: 1 })
    await release(db, { orderId: orders[1] ?? 0 })
    const acl_value = 'checked.example\nlow.checked.test\nfree.test'
    const fresh = await rules.check({ acl_value, name: 'New' })
    const side = { id: broad, name: 'Checked' }
    expect(fresh.data).toMatchObject({
      duplicates: [{ domain: 'checked.example', rules: [side, { id: null, name: 'New' }] }],
      duplicate_total: 1,
      overlaps: [
        { domain: 'low.checked.test', within: 'checked.test', narrow: { id: null }, broad: side, winner: null }
      ],
      overlap_total: 1,
      undecided_total: 1,
      rules: [{ ...side, orders: 1 }]
    })
    const decided = await rules.check({ acl_value, decisions: [{ rule_id: broad, winner: 'broad' }] })
    expect(decided.data).toMatchObject({ undecided_total: 0, overlaps: [{ winner: 'broad' }], shared: [] })
    // An existing rule does not conflict with its own domains.
    const own = await rules.check({ acl_value: 'checked.test', id: broad })
    expect(own.data).toMatchObject({ duplicate_total: 0, overlap_total: 0, rules: [] })
    expect(await rules.check({ acl_value: 'no domain' })).toMatchObject({
      code: 400,
      data: { reason: 'invalid_lines' }
    })
    expect((await rules.check({ acl_value: 'fine.test', id: 999_999 })).code).toBe(404)
    expect((await rules.conflicts()).overlaps.some(({ domain }) => domain === 'low.checked.test')).toBe(false)
  })
})
