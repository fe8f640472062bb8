import { sql } from 'drizzle-orm'
import {
  addGroup,
  addOrders,
  addRule,
  addServer,
  inTransaction
} from '../../apps/server/src/domains/inventory/inventory.fixture.ts'
import { addCidr } from '../../apps/server/src/domains/inventory/index.ts'
import type { Database } from '../../apps/server/src/infra/db/client.ts'

export type Dataset = {
  /** Ids of a group with about 100,000 addresses, and of one with all 1,000,000. */
  group: number
  everything: number
  rules: number[]
  /** Orders to lease for. */
  orders: number[]
  addresses: { group: number; everything: number }
  blocks: number
}

/** Prefix lengths of the 400 ranges: 1,002,496 addresses. */
const ranges = [
  { count: 168, length: 20 },
  { count: 120, length: 21 },
  { count: 52, length: 22 },
  { count: 60, length: 24 }
]
const servers = 40

/** 1,000,000 addresses in 400 ranges on 40 servers, 50 rules, 200,000 live blocks of all steps under 1 to 5 rules. */
export async function buildDataset(db: Database): Promise<Dataset> {
  const serverIds: number[] = []
  for (let at = 0; at < servers; at += 1) serverIds.push(await addServer(db, `server ${at}`))
  const group = await addGroup(db, 'a tenth', serverIds.slice(0, servers / 10))
  const everything = await addGroup(db, 'everything', serverIds)
  const rules: number[] = []
  for (let at = 0; at < 50; at += 1) rules.push(await addRule(db, `rule ${at}`))
  const lengths = ranges.flatMap(({ count, length }) => Array.from({ length: count }, () => length))
  for (const [at, length] of lengths.entries()) {
    const cidr = `${10 + Math.floor(at / 16)}.${(at % 16) * 16}.0.0/${length}`
    const added = await inTransaction(db, addCidr, { cidr, serverId: serverIds[at % servers] ?? null })
    if (!added.ok) throw new Error(added.reason)
  }
  const orders = await addOrders(db, everything, 1000)
  const blocks = await lease(db, everything, orders)
  await db.execute(sql`vacuum analyze`)
  await db.execute(sql`checkpoint`)
  const units = async (id: number) => {
    const { rows } = await db.execute<{ units: number }>(sql`
      select sum(c.size) as units from inventory.sellers s join chunks c on c.server_id = s.server_id
      where s.group_id = ${id}`)
    return Number(rows[0]?.units)
  }
  return {
    group,
    everything,
    rules,
    orders,
    addresses: { group: await units(group), everything: await units(everything) },
    blocks
  }
}

/**
 * Inserts leases directly, because `reserve` would take minutes, but not past the database's guard. Each of ten layers
 * leases under its own five rules. In each window of 256 addresses a layer holds one lease of a few blocks of one step,
 * so leases cannot overlap. Derived from hashes, so every run has the same data.
 */
async function lease(db: Database, groupId: number, orders: number[]): Promise<number> {
  return db.transaction(async tx => {
    await tx.execute(sql`set local statement_timeout = '120s'`)
    await tx.execute(sql`set local work_mem = '256MB'`)
    await tx.execute(sql`
      create temp table drawn on commit drop as
      select nextval(pg_get_serial_sequence('leases', 'id')) as lease_id, c.id as chunk_id, win * 256 as base, hash,
        (array(select layer * 5 + nth from generate_series(1, 5) as nth
          order by hashint8(hash + nth * 7919)))[1 : 1 + hash % 5] as rules,
        case when hash % 100 < 60 then 1 when hash % 100 < 80 then 8 when hash % 100 < 90 then 16
          when hash % 100 < 95 then 32 when hash % 100 < 98 then 64 when hash % 100 < 99 then 128 else 256 end as step
      from chunks c
      cross join generate_series(0, c.size / 256 - 1) as win
      cross join generate_series(0, 9) as layer
      cross join lateral (select abs(hashint8(c.id * 1000003::bigint + win * 101 + layer))::bigint as hash) as h`)
    await tx.execute(sql`update drawn set rules = array(select unnest(rules) order by 1)`)
    await tx.execute(sql`
      insert into leases (created_at, id, order_id, group_id, step, rules, blocks, state, activated_at)
      overriding system value
      select now(), lease_id, (${sql.param(orders)}::bigint[])[1 + hash % ${orders.length}], ${groupId}, step, rules,
        least(6, 256 / step), 'active', now()
      from drawn`)
    const { rowCount } = await tx.execute(sql`
      insert into lease_blocks (leased_at, lease_id, chunk_id, start, length, rules)
      select clock_timestamp(), lease_id, chunk_id, base + (hash + nth * (1 + 2 * (hash % 16))) % (256 / step) * step, step, rules
      from drawn, generate_series(1, least(6, 256 / step)) as nth`)
    return rowCount ?? 0
  })
}
