import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { withClient } from '../../testing/server.ts'
import { createHttpApp } from '../../app.ts'

let shop: TestShop
beforeAll(async () => {
  shop = await startTestShop({ app: createHttpApp })
})
afterAll(() => shop?.close())

test('a shop with a read-only database, as during a failover, is not ready', async () => {
  const ready = () => fetch(`${shop.url}/readyz`)
  expect((await ready()).status).toBe(200)
  const name = new URL(shop.ctx.config.databaseUrl).pathname.slice(1)
  const readOnly = (on: boolean) =>
    withClient(shop.ctx.config.databaseUrl, async client => {
      await client.query('set default_transaction_read_only = off')
      await client.query(`alter database "${name}" set default_transaction_read_only = ${on}`)
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and application_name = 'netlet' and datname = $1`,
        [name]
      )
    })
  await readOnly(true)
  const answer = await ready()
  expect([answer.status, await answer.json()]).toMatchObject([503, { database: false }])
  await readOnly(false)
  await expect.poll(async () => (await ready()).status).toBe(200)
})

test('metrics answer requests from this machine, and none that a proxy forwards', async () => {
  const read = async (headers: Record<string, string> = {}) => (await fetch(`${shop.url}/metrics`, { headers })).status
  expect(await read()).toBe(200)
  const passedOn: Record<string, string>[] = [
    { 'x-forwarded-for': '192.0.2.1' },
    { 'x-forwarded-proto': 'https' },
    { 'x-real-ip': '192.0.2.1' },
    { forwarded: 'for=192.0.2.1' },
    { via: '1.1 proxy' }
  ]
  for (const headers of passedOn) expect([headers, await read(headers)]).toEqual([headers, 404])
})
