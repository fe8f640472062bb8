import { sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import type { Unit } from '../../infra/command.ts'
import { createRule, type RuleInput } from './rules.ts'

/** Rows of other domains that the inventory's tests and benchmarks need. Ids are told apart by `name`. */

export async function addServer(db: Executor, name: string): Promise<number> {
  return firstId(db, sql`insert into servers (name, ip) values (${name}, '127.0.0.1') returning id`)
}

class Refused extends Error {
  readonly result: unknown

  constructor(result: unknown) {
    super('refused')
    this.result = result
  }
}

/** Runs one step of a write as a whole one; what it refuses is undone, as a command does. */
export async function inTransaction<Args extends unknown[], T>(
  db: Executor,
  step: (unit: Pick<Unit, 'tx' | 'now'>, ...args: Args) => Promise<T>,
  ...args: Args
): Promise<T> {
  try {
    return await db.transaction(async tx => {
      const result = await step({ tx, now: new Date() }, ...args)
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
  const id = await firstId(db, sql`insert into server_groups (name) values (${name}) returning id`)
  await db.execute(
    sql`insert into server_group_servers (group_id, server_id) select ${id}, unnest(${sql.param(serverIds)}::bigint[])`
  )
  return id
}

export async function addRule(db: Executor, name: string, input: Partial<RuleInput> = {}): Promise<number> {
  const rule = {
    name,
    description: '',
    price: '1.00',
    platformVariantId: '1',
    aclValue: `${name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}.example`,
    ...input
  }
  const created = await inTransaction(db, createRule, rule)
  if (!created.ok) throw new Error(created.reason)
  return created.rule.id
}

/** `count` orders of one customer, ascending. */
export async function addOrders(db: Executor, groupId: number, count: number): Promise<number[]> {
  const name = `u${groupId}x${count}x${process.hrtime.bigint()}`
  const user = await firstId(
    db,
    sql`insert into users (username, email, password_hash, invite_code)
      values (${name}, ${`${name}@example.com`}, 'none', ${name}) returning id`
  )
  const product = await firstId(
    db,
    sql`insert into products (platform_id, name) values (${name}, ${name}) returning id`
  )
  const variant = await firstId(
    db,
    sql`insert into variants (product_id, platform_id, name, price) values (${product}, ${name}, ${name}, 1) returning id`
  )
  const { rows } = await db.execute<{ id: number }>(sql`
    insert into orders (order_id, user_id, product_id, variant_id, server_group_id, product_name, variant_name, quantity,
      cart_step, proxy_time, variant_price, acl_price, amount, rules, reserved_until, proxy_username, proxy_password)
    select ${name} || nth, ${user}::bigint, ${product}::bigint, ${variant}::bigint, ${groupId}::bigint, 'p', 'v', 1, 1, 30, 1,
      0, 1, '{1}', now() + interval '30 minutes', ${name} || nth, 'none'
    from generate_series(1, ${count}::int) as nth returning id`)
  return rows.map(row => row.id)
}

async function firstId(db: Executor, query: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await db.execute<{ id: number }>(query)
  if (!rows[0]) throw new Error('nothing was inserted')
  return rows[0].id
}
