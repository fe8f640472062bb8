import type { OrderFamily } from '@netlet/contract'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Database, closeDatabase, openDatabase } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from './inventory.fixture.ts'
import {
  addCidr,
  addressCount,
  addressesOf,
  audit,
  excludeRules,
  stockByRule,
  stockForRules,
  release,
  reserve,
  reserveOther,
  updateRule
} from './index.ts'
import { addressToNumber } from './ranges.ts'
import { runs } from '../../../../../scripts/testing/tier.ts'

/** The second rule lies within the first, the fourth within both. The third is unrelated. */
const domains = ['one.example', 'two.one.example', 'three.example', 'four.two.one.example']

let database: TestDatabase
let db: Database
let rules: number[] = []
let serial = 0
/** Every order so far. Leases of an earlier run would keep rules from sharing a site. */
const everyOrder: number[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 2 })
  for (const aclValue of domains) {
    const decisions = rules.map(rule_id => ({ rule_id, winner: 'narrow' as const }))
    rules.push(await addRule(db, aclValue, { aclValue, decisions }))
  }
})

afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

type Range = {
  cidr: string
  id: number
  units: number
  excluded: number[]
}

/** A plain model of the inventory: for each range and unit, the rules that it is leased under. */
class Model {
  readonly ranges: Range[]
  readonly used = new Map<string, Set<number>>()
  /** Sets of rules with a site in common. */
  readonly sites: number[][]

  constructor(ranges: Range[], sites: number[][]) {
    this.ranges = ranges
    this.sites = sites
  }

  /** These rules, and those that share a site with one of them. */
  intersecting(wanted: number[]): number[] {
    return [...wanted, ...this.sites.filter(site => site.some(rule => wanted.includes(rule))).flat()]
  }

  /** Aligned blocks of a family that are free for all the rules. */
  free(step: number, wanted: number[], family: OrderFamily): number {
    const taken = this.intersecting(wanted)
    let blocks = 0
    for (const range of this.ranges) {
      if (range.excluded.some(rule => wanted.includes(rule))) continue
      if (family !== 'any' && (family === 'ipv6') !== range.cidr.includes(':')) continue
      for (let start = 0; start + step <= range.units; start += step) {
        const units = Array.from({ length: step }, (_, nth) => this.used.get(`${range.id} ${start + nth}`))
        if (!units.some(held => taken.some(rule => held?.has(rule)))) blocks += 1
      }
    }
    return blocks
  }

  unitOf(ip: string): string {
    const v6 = ip.includes(':')
    const value = addressToNumber(ip) >> (v6 ? 64n : 0n)
    for (const range of this.ranges) {
      const base = range.cidr.split('/')[0] ?? ''
      const offset = value - (addressToNumber(base) >> (v6 ? 64n : 0n))
      if (base.includes(':') === v6 && offset >= 0n && offset < range.units) return `${range.id} ${offset}`
    }
    throw new Error(`${ip} lies in no range`)
  }
}

const step = fc.constantFrom(1, 8, 16, 32, 64, 128, 256)
const family = fc.constantFrom<OrderFamily>('ipv4', 'ipv6', 'any')
const choice = fc.subarray([0, 1, 2, 3], { minLength: 1 })
const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('reserve' as const),
      step,
      choice,
      family,
      blocks: fc.integer({ min: 1, max: 9 })
    })
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), at: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change' as const), at: fc.nat() }) }
)
const winner = fc.constantFrom('narrow' as const, 'broad' as const)
/** Prefix lengths: from one address to several windows of 256. IPv6 ones in /64s. */
const shape = fc.record({
  v4: fc.array(fc.constantFrom(32, 31, 30, 29, 28, 26, 25, 24, 23), { minLength: 1, maxLength: 4 }),
  v6: fc.array(fc.constantFrom(64, 62, 60, 56), { maxLength: 1 }),
  excluded: fc.array(fc.subarray([0, 1, 2, 3], { maxLength: 2 }), { minLength: 5, maxLength: 5 }),
  /** The decisions for the second within the first, the fourth within the second, the fourth within the first. */
  winners: fc.tuple(winner, winner, winner)
})

const ruleIds = (chosen: number[]) => chosen.map(at => rules[at] ?? 0)

type Winner = 'narrow' | 'broad'

let variants = 2_000_000

/** Makes the decisions. @returns the rules that reach the second domain, and those that reach the fourth */
async function decide([second, fourth, deep]: [Winner, Winner, Winner]): Promise<number[][]> {
  const [one = 0, two = 0, , four = 0] = rules
  const say = async (at: number, decisions: { rule_id: number; winner: Winner }[]) => {
    const aclValue = domains[at] ?? ''
    variants += 1
    const input = {
      name: aclValue,
      description: '',
      price: '1.00',
      platformVariantId: String(variants),
      aclValue,
      decisions
    }
    expect(await inTransaction(db, updateRule, rules[at] ?? 0, input)).toMatchObject({ ok: true })
  }
  await say(1, [{ rule_id: one, winner: second }])
  await say(3, [
    { rule_id: two, winner: fourth },
    { rule_id: one, winner: deep }
  ])
  return [
    [two, ...(second === 'broad' ? [one] : [])],
    [four, ...(fourth === 'broad' ? [two] : []), ...(deep === 'broad' ? [one] : [])]
  ]
}

type Shape = { v4: number[]; v6: number[]; excluded: number[][]; winners: [Winner, Winner, Winner] }

async function build({ v4, v6, excluded, winners }: Shape) {
  const name = `shop ${(serial += 1)}`
  const serverId = await addServer(db, name)
  const groupId = await addGroup(db, name, [serverId])
  const texts = [
    ...v4.map((length, at) => `10.${serial % 256}.${at * 16}.0/${length}`),
    ...v6.map(length => `2001:db8:${serial.toString(16)}::/${length}`)
  ]
  const ranges: Range[] = []
  for (const [at, cidr] of texts.entries()) {
    const added = await inTransaction(db, addCidr, { cidr, serverId })
    if (!added.ok) throw new Error(JSON.stringify(added))
    const without = ruleIds(excluded[at] ?? [])
    await inTransaction(db, excludeRules, added.cidrId, without)
    ranges.push({ cidr, id: added.cidrId, units: addressCount(cidr), excluded: without })
  }
  await release(db, { orderIds: everyOrder })
  const [orderId = 0] = await addOrders(db, groupId, 1)
  everyOrder.push(orderId)
  return { groupId, orderId, model: new Model(ranges, await decide(winners)) }
}

type Lease = {
  id: number
  step: number
  rules: number[]
  family: OrderFamily
  units: string[]
}

async function unitsOf(model: Model, leaseId: number): Promise<string[]> {
  const units: string[] = []
  for await (const page of addressesOf(db, leaseId, { pageSize: 100 }))
    units.push(...page.map(({ ip }) => model.unitOf(ip)))
  return units
}

/** Adds a lease to the model, in which it must be free, aligned, and outside excluded ranges. */
async function hold(
  model: Model,
  leaseId: number,
  {
    step: size,
    rules: wanted,
    quantity,
    family
  }: { step: number; rules: number[]; quantity: number; family: OrderFamily }
): Promise<Lease> {
  const units = await unitsOf(model, leaseId)
  expect(units).toHaveLength(quantity)
  for (const [at, unit] of units.entries()) {
    const [range, start] = unit.split(' ').map(Number)
    expect(Number(start) % size).toBe(at % size)
    const v6 = model.ranges.find(({ id }) => id === range)?.cidr.includes(':')
    if (family !== 'any') expect(v6).toBe(family === 'ipv6')
    expect(model.ranges.find(({ id }) => id === range)?.excluded.filter(rule => wanted.includes(rule))).toEqual([])
    const held = model.used.get(unit) ?? new Set()
    for (const rule of model.intersecting(wanted)) expect(held.has(rule)).toBe(false)
    for (const rule of wanted) held.add(rule)
    model.used.set(unit, held)
  }
  return { id: leaseId, step: size, rules: wanted, family, units }
}

function letGo(model: Model, lease: Lease): void {
  for (const unit of lease.units) for (const rule of lease.rules) model.used.get(unit)?.delete(rule)
}

it('does what a naive inventory does, in any order of reservations, releases and changes', async () => {
  await fc.assert(
    fc.asyncProperty(
      shape,
      fc.array(command, { minLength: 4, maxLength: 14 }),
      choice,
      family,
      async (world, commands, look, of) => {
        const { groupId, orderId, model } = await build(world)
        let leases: Lease[] = []
        for (const next of commands) {
          if (next.kind === 'reserve') {
            const wanted = {
              orderId,
              groupId,
              step: next.step,
              rules: ruleIds(next.choice),
              quantity: next.step * next.blocks,
              family: next.family
            }
            const enough = model.free(next.step, wanted.rules, next.family) >= next.blocks
            const taken = await reserve(db, wanted)
            expect(taken.ok).toBe(enough)
            if (taken.ok) leases.push(await hold(model, taken.leaseId, wanted))
            continue
          }
          const lease = leases[next.at % Math.max(1, leases.length)]
          if (!lease) continue
          if (next.kind === 'change') {
            const quantity = lease.units.length
            const again = { step: lease.step, rules: lease.rules, family: lease.family, quantity }
            const free = model.free(lease.step, lease.rules, lease.family) >= quantity / lease.step
            const other = await reserveOther(db, { orderId, groupId, ...again })
            expect(other.ok).toBe(free)
            if (!other.ok) continue
            leases.push(await hold(model, other.leaseId, again))
          }
          expect(await release(db, { leaseIds: [lease.id] })).toEqual([lease.id])
          letGo(model, lease)
          leases = leases.filter(({ id }) => id !== lease.id)
        }
        const selected = ruleIds(look)
        for (const size of [1, 8, 32, 256]) {
          expect(await stockForRules(db, { groupId, step: size, rules: selected, family: of })).toBe(
            model.free(size, selected, of) * size
          )
          expect(await stockByRule(db, { groupId, step: size, family: of })).toEqual(
            rules.map(ruleId => ({ ruleId, stock: model.free(size, [ruleId], of) * size }))
          )
          expect(await stockByRule(db, { groupId, step: size, selected, family: of })).toEqual(
            rules.map(ruleId => ({ ruleId, stock: model.free(size, [...new Set([...selected, ruleId])], of) * size }))
          )
        }
      }
    ),
    runs(12, 1000)
  )
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
}, 120_000)
