import { sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { Unit } from '../../infra/command.ts'
import { addRow } from '../../testing/rows.ts'
import { users } from '../accounts/tables.ts'
import { products, variants } from '../catalog/tables.ts'
import { serverGroups, servers } from '../servers/tables.ts'
import { createRule, type RuleInput } from './rules.ts'

/** Rows of other domains that the inventory's tests and benchmarks need, told apart by `name`. */

const now = new Date('2026-03-01T12:00:00Z')

export async function addServer(db: Executor, name: string): Promise<number> {
  return (await addRow({ tx: db, now }, servers, { name, ip: '127.0.0.1' })).id
}

class Refused extends Error {
  readonly result: unknown

  constructor(result: unknown) {
    super('refused')
    this.result = result
  }
}

/** Runs one step of a write as a whole one. A refusal is rolled back, as in a command. */
export async function inTransaction<Args extends unknown[], T>(
  db: Executor,
  step: (unit: Pick<Unit, 'tx' | 'now'>, ...args: Args) => Promise<T>,
  ...args: Args
): Promise<T> {
  try {
    return await db.transaction(async tx => {
      const result = await step({ tx, now }, ...args)
      if (typeof result === 'object' && result !== null && 'ok' in result && result.ok === false) {
        throw new Refused(result)
      }
      return result
    })
  } catch (error) {
    if (error instanceof Refused) return error.result as T
    throw error
  }
}

/** A server group of these servers. */
export async function addGroup(db: Executor, name: string, serverIds: number[]): Promise<number> {
  const { id } = await addRow({ tx: db, now }, serverGroups, { name })
  await db.execute(
    sql`insert into server_group_servers (group_id, server_id) select ${id}, unnest(${sql.param(serverIds)}::bigint[])`
  )
  return id
}

let serial = 1_000_000

export async function addRule(db: Executor, name: string, input: Partial<RuleInput> = {}): Promise<number> {
  const rule = {
    name,
    description: '',
    price: '1.00',
    platformVariantId: String((serial += 1)),
    aclValue: `${name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}.example`,
    ...input
  }
  const created = await inTransaction(db, createRule, rule)
  if (!created.ok) throw new Error(created.reason)
  return created.rule.id
}

/** `count` orders of one customer, ascending. */
export async function addOrders(db: Executor, groupId: number, count: number): Promise<number[]> {
  const place = { tx: db, now }
  const name = `u${groupId}x${count}x${process.hrtime.bigint()}`
  const user = await addRow(place, users, {
    username: name,
    email: `${name}@example.com`,
    passwordHash: 'none',
    inviteCode: name
  })
  const product = await addRow(place, products, { platformId: name, name })
  const variant = await addRow(place, variants, { productId: product.id, platformId: name, name, price: '1' })
  const { rows } = await db.execute<{ id: number }>(sql`
    insert into orders (order_id, user_id, product_id, variant_id, server_group_id, product_name, variant_name, quantity,
      cart_step, proxy_time, variant_price, acl_price, amount, rules, reserved_until, created_at, proxy_username, proxy_password)
    select ${name} || nth, ${user.id}::bigint, ${product.id}::bigint, ${variant.id}::bigint, ${groupId}::bigint, 'p', 'v', 1, 1, 30,
      1, 0, 1, '{1}', ${now}::timestamptz + interval '30 minutes', ${now}::timestamptz, ${name} || nth, 'none'
    from generate_series(1, ${count}::int) as nth returning id`)
  return rows.map(row => row.id)
}
