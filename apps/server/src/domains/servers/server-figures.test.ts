import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { vacuumFully } from '../../testing/vacuum.ts'
import { usersOfServers } from './list-servers.ts'
import { addServer } from '../inventory/inventory.fixture.ts'

const SERVERS = 4
const USERS = 5000

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
  for (let n = 1; n <= SERVERS; n++) await addServer(db, `s${n}`)
  // One in 1,000 waits for its change, one was made by hand, one is to be removed.
  await db.execute(sql`
    insert into agent_users (server_id, username, order_id, password, prefixes, rules, wanted, generation, applied_generation)
    select s.id, 'u' || n, case when n = 1 then null else n end, 'x', '{10.0.0.0/29}', '{1}', n <> 2,
      10000 * s.id + n, case when n % 1000 = 0 then 7 else 10000 * s.id + n end
    from generate_series(1, ${USERS}::int) n, servers s`)
  await vacuumFully(db, 'agent_users')
}, 120_000)
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

type Node = Record<string, unknown> & { Plans?: Node[] }
const indexesOf = (node: Node): unknown[] => [node['Index Name'] ?? [], ...(node.Plans ?? []).map(indexesOf)].flat(9)

test('the figures of a page of servers come each from its index, not from all their users', async () => {
  const { rows } = await db.execute<{ id: number }>(sql`select id::int from servers order by id`)
  const ids = rows.map(({ id }) => id)
  expect((await usersOfServers(db, ids)).toSorted((a, b) => a.serverId - b.serverId)).toEqual(
    ids.map(id => ({
      serverId: id,
      wanted: 10_000 * id + USERS,
      confirmed: 10_000 * id + USERS - 1,
      behind: USERS / 1000,
      orders: USERS - 2
    }))
  )
  const { rows: plans } = await db.execute<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    sql`explain (format json) ${usersOfServers(db, ids)}`
  )
  const [plan] = plans[0]?.['QUERY PLAN'] ?? []
  // Not the primary key's index, which would read all of a server's users.
  expect(plan && new Set(indexesOf(plan.Plan).filter(name => name !== 'servers_pkey'))).toEqual(
    new Set(['agent_users_generation', 'agent_users_applied', 'agent_users_behind', 'agent_users_orders'])
  )
})

test('a server without users has none', async () => {
  const id = await addServer(db, 'bare')
  expect(await usersOfServers(db, [id])).toEqual([{ serverId: id, wanted: 0, confirmed: 0, behind: 0, orders: 0 }])
})
