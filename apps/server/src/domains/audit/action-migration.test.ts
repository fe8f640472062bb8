import { readdirSync, readFileSync } from 'node:fs'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { migrationStatements } from '../../testing/migrations.ts'

const sources = new URL('../../', import.meta.url)

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

const statements = migrationStatements()

/** The migrations' changes of audit log rows, in order. */
const updates = statements.filter(statement => statement.includes('UPDATE "audit_log"'))

const migrate = async () => {
  for (const statement of updates) await db.execute(sql.raw(statement))
}

const actions = async () =>
  (await db.execute(sql`select target_type || ' ' || action as entry from audit_log order by id`)).rows.map(
    row => row['entry']
  )

/** Every action that a command writes, by the sources. */
function writtenActions(): Set<string> {
  const found = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap(name => [...readFileSync(new URL(name, sources), 'utf8').matchAll(/\.audit\(\s*'(\w+\.\w+)'/g)])
    .map(([, action = '']) => action)
  return new Set([...found, 'order.deliver', 'order.change', 'order.reset'])
}

/** Target and action of every entry of the last release, and their current names. */
const ENTRIES: [target: string, action: string, now: string][] = [
  ['user', 'ban user', 'user user.ban'],
  ['user', 'unban user', 'user user.unban'],
  ['user', 'set password', 'user user.set_password'],
  ['user', 'create first administrator', 'user user.create'],
  ['user', 'delete user', 'user user.delete'],
  ['user', 'edit user', 'user user.edit'],
  ['user', 'switch user', 'user user.switch'],
  ['user', 'switch back', 'user user.switch_back'],
  ['product', 'create product', 'product product.create'],
  ['product', 'edit product', 'product product.edit'],
  ['product', 'delete product', 'product product.delete'],
  ['product', 'withdraw product', 'product product.withdraw'],
  ['product', 'follow platform', 'product product.follow'],
  ['collection', 'edit collection', 'collection collection.edit'],
  ['collection', 'delete collection', 'collection collection.delete'],
  ['collection', 'sync collections', 'collection collection.sync'],
  ['tag', 'edit tag', 'tag tag.edit'],
  ['tag', 'delete tag', 'tag tag.delete'],
  ['tag', 'sync tags', 'tag tag.sync'],
  ['order', 'deliver proxies', 'order order.deliver'],
  ['order', 'change proxies', 'order order.change'],
  ['order', 'reset proxies', 'order order.reset'],
  ['order', 'extend order', 'order order.extend'],
  ['order', 'delete order', 'order order.delete'],
  ['server', 'create server', 'server server.create'],
  ['server', 'edit server', 'server server.edit'],
  ['server', 'delete server', 'server server.delete'],
  ['server', 'reset ranges', 'server server.reset_ranges'],
  ['server', 'flush access log', 'server server.request_flush'],
  ['server', 'call agent', 'server server.request_call'],
  ['server', 'allow removals', 'server server.allow_removals'],
  ['server', 'create proxy user', 'server server.create_user'],
  ['server', 'delete proxy user', 'server server.delete_user'],
  ['server', 'delete all proxy users', 'server server.delete_all_users'],
  ['server group', 'create server group', 'server_group server_group.create'],
  ['server group', 'edit server group', 'server_group server_group.edit'],
  ['server group', 'delete server group', 'server_group server_group.delete'],
  ['ACL group', 'create ACL group', 'acl_group acl_group.create'],
  ['ACL group', 'edit ACL group', 'acl_group acl_group.edit'],
  ['ACL group', 'delete ACL group', 'acl_group acl_group.delete'],
  ['ACL rule', 'create ACL rule', 'acl_rule acl_rule.create'],
  ['ACL rule', 'edit ACL rule', 'acl_rule acl_rule.edit'],
  ['ACL rule', 'delete ACL rule', 'acl_rule acl_rule.delete'],
  ['CIDR', 'edit CIDR', 'cidr cidr.edit'],
  ['CIDR', 'clean unused CIDRs', 'cidr cidr.clean'],
  ['coupon', 'create coupon', 'coupon coupon.create'],
  ['coupon', 'edit coupon', 'coupon coupon.edit'],
  ['coupon', 'delete coupon', 'coupon coupon.delete'],
  ['gift_card', 'create gift card', 'gift_card gift_card.create'],
  ['gift_card', 'edit gift card', 'gift_card gift_card.edit'],
  ['gift_card', 'delete gift card', 'gift_card gift_card.delete'],
  ['level_code', 'create level', 'level_code level_code.create'],
  ['level_code', 'edit level', 'level_code level_code.edit'],
  ['level_code', 'delete level', 'level_code level_code.delete'],
  ['faq', 'create question', 'faq faq.create'],
  ['faq', 'edit question', 'faq faq.edit'],
  ['faq', 'delete question', 'faq faq.delete'],
  ['ticket', 'delete ticket', 'ticket ticket.delete'],
  ['settings', 'save settings', 'settings settings.save']
]

test('old entries get the names of current commands, and a second time changes nothing', async () => {
  for (const [target, action] of ENTRIES)
    await db.execute(
      sql`insert into audit_log (at, actor_name, action, target_type, target_id) values (now(), 'ada', ${action}, ${target}, '1')`
    )
  await migrate()
  const expected = ENTRIES.map(([, , now]) => now)
  expect(await actions()).toEqual(expected)
  const written = writtenActions()
  expect(expected.map(entry => entry.split(' ')[1] ?? '').filter(action => !written.has(action))).toEqual([])
  await migrate()
  expect(await actions()).toEqual(expected)
})

test('jobs of queues that are gone are deleted, where there are queues at all', async () => {
  const cleanup = statements.filter(statement => statement.includes('DELETE FROM pgboss.job'))
  expect(cleanup).toHaveLength(1)
  const run = () => db.execute(sql.raw(cleanup[0] ?? ''))
  await db.execute(sql`drop schema if exists pgboss cascade`)
  await run()
  await db.execute(sql`create schema pgboss; create table pgboss.job (name text);
    insert into pgboss.job values ('catalog.apply-product-event'), ('catalog.register-webhooks'),
      ('resettle-payments'), ('register-webhooks')`)
  await run()
  expect((await db.execute(sql`select name from pgboss.job`)).rows).toEqual([{ name: 'register-webhooks' }])
})
