import { sql } from './drizzle.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import type * as Client from './client.ts'
import type { Database, Executor } from './client.ts'

let database: TestDatabase
let db: Database
let client: typeof Client
beforeAll(async () => {
  // Statement names belong to the process, so other tests may have used them up.
  vi.resetModules()
  client = await import('./client.ts')
  database = await createTestDatabase()
  // All tests use one connection, so its prepared statements are the ones we count.
  db = client.openDatabase(database.url, { max: 1 })
})
afterAll(async () => {
  await client.closeDatabase(db)
  await database.drop()
})

async function preparedNow(tx: Executor, like: string): Promise<number> {
  const { rows } = await tx.execute<{ count: number }>(
    sql.raw(`select count(*) from pg_prepared_statements where statement like '${like}'`)
  )
  return rows[0]?.count ?? 0
}

test("a transaction's statement is prepared once per connection, whatever its values are", async () => {
  for (const n of [1, 2, 3]) {
    await db.transaction(async tx => {
      const { rows } = await tx.execute<{ twice: number }>(sql`select ${n}::int * 2 as twice`)
      expect(rows).toEqual([{ twice: n * 2 }])
    })
  }
  expect(await db.transaction(tx => preparedNow(tx, 'select $1::int * 2%'))).toBe(1)
})

test('a statement that failed can be tried again', async () => {
  const divide = (n: number) => db.transaction(tx => tx.execute(sql`select 10 / ${n}::int as result`))
  await expect(divide(0)).rejects.toThrow()
  expect((await divide(5)).rows).toEqual([{ result: 2 }])
  await expect(divide(0)).rejects.toThrow()
  expect((await divide(2)).rows).toEqual([{ result: 5 }])
})

test('texts that vary without end do not fill the server', async () => {
  await db.transaction(async tx => {
    for (let n = 0; n < 600; n++) await tx.execute(sql`select ${n}::int as ${sql.raw(`column_${n}`)}`)
  })
  const kept = await db.transaction(tx => preparedNow(tx, '%as column_%'))
  expect(kept).toBeLessThanOrEqual(400)
  expect(kept).toBeGreaterThan(300)
})
