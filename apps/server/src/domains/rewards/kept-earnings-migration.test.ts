import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrationStatements } from '../../testing/migrations.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({ routes: () => {} })
})
afterAll(() => shop?.close())

/** The migration's statements about these tables. */
const statements = () =>
  migrationStatements('_kept_earnings.sql').filter(statement => /"coupons|"point_records/.test(statement))

test('what was taken back counts as taken as a whole, and a promo code knows who uses it, or did', async () => {
  const { ctx } = shop
  const { id } = (await shop.customer()).user
  // The former tables.
  for (const before of [
    'drop index coupons_used_by',
    'drop index coupons_freed_by',
    'alter table coupons drop column freed_by, alter column used_by drop not null, alter column used_by drop default',
    'alter table coupons alter column used_by type text using used_by[1]',
    'create index coupons_used_by on coupons (used_by)',
    'alter table point_records drop constraint point_records_taken_back',
    'alter table point_records drop column rate, drop column nominal, drop column taken_back'
  ])
    await ctx.db.execute(sql.raw(before))
  await ctx.db
    .execute(sql`insert into coupons (created_at, holder_id, code, code_type, discount, is_used, used_by) values
    (now(), ${id}, 'free', 1, 1, false, null), (now(), ${id}, 'by hand', 1, 1, true, null), (now(), ${id}, 'used', 1, 1, true, 'p1'),
    (now(), ${id}, 'freed', 1, 1, false, 'p2')`)
  const [first] = (
    await ctx.db.execute<{ id: number }>(sql`insert into point_records
      (created_at, user_id, kind, point, reason_code, cause, payment, taken_back_at)
      values (now(), ${id}, 'level', 100, 'payment', 'payment:p1:level', 'p1', now()) returning id`)
  ).rows
  await ctx.db
    .execute(sql`insert into point_records (created_at, user_id, kind, point, reason_code, cause, payment) values
    (now(), ${id}, 'level', -80, 'refund', ${`refund:${first?.id}`}, null),
    (now(), ${id}, 'level', 80, 'payment', ${`restored:${first?.id}`}, 'p1'),
    (now(), ${id}, 'coins', 7, 'invited_payment', 'payment:p1:coins', 'p1')`)

  for (const statement of statements()) await ctx.db.execute(sql.raw(statement))
  const coupons = await ctx.db.execute(sql`select code, used_by, freed_by from coupons order by id`)
  expect(coupons.rows).toEqual([
    { code: 'free', used_by: [], freed_by: [] },
    { code: 'by hand', used_by: [], freed_by: [] },
    { code: 'used', used_by: ['p1'], freed_by: [] },
    { code: 'freed', used_by: [], freed_by: ['p2'] }
  ])
  const records = await ctx.db.execute(sql`select point, nominal, taken_back, rate from point_records order by id`)
  expect(records.rows).toEqual([
    { point: 100, nominal: null, taken_back: 100, rate: null },
    { point: -80, nominal: null, taken_back: 0, rate: null },
    { point: 80, nominal: 100, taken_back: 0, rate: null },
    { point: 7, nominal: null, taken_back: 0, rate: null }
  ])
})
