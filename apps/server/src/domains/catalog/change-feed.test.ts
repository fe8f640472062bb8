import { routes, type Product } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openChangeFeed, type ChangeFeed } from '../../infra/change-feed.ts'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { catalogRoutes } from './index.ts'
import { addProduct } from './products.fixture.ts'
import { products } from './tables.ts'

const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 20 })

/** Time stands still, so that a shared reply never expires. */
const now = () => new Date('2026-03-01T12:00:00Z')

let shop: TestShop
/** The connections of another process of the shop. */
let other: { db: Database; changes: ChangeFeed }

beforeAll(async () => {
  shop = await startTestShop({ now, routes: (mount, ctx, app) => catalogRoutes(mount, ctx, { app }) })
  const { databaseUrl } = shop.ctx.config
  const db = openDatabase(databaseUrl, { max: 1 })
  other = { db, changes: await openChangeFeed({ databaseUrl, db, log: shop.ctx.log }) }
})

afterAll(async () => {
  await other?.changes.stop()
  if (other) await closeDatabase(other.db)
  await shop?.close()
})

const shownNames = async (): Promise<string[]> => {
  const reply = await shop.visitor().get<{ data: Product[] }>(routes.catalog.products.path)
  return reply.data.data.map(product => product.product_name)
}

test('what another process changes of the catalogue is shown as soon as the feed tells', async () => {
  const { id } = await addProduct(shop.ctx.db, { name: 'Before' }, [{}])
  expect(await shownNames()).toEqual(['Before'])
  const rename = async (name: string) => other.db.update(products).set({ name }).where(eq(products.id, id))

  await rename('Renamed')
  expect(await shownNames()).toEqual(['Before'])
  other.changes.publish([{ resource: 'product', id }])
  await eventually(async () => expect(await shownNames()).toEqual(['Renamed']))

  await rename('Renamed again')
  expect(await shownNames()).toEqual(['Renamed'])
  await other.db.$client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'netlet changes' and datname = current_database()`
  )
  await eventually(async () => expect(await shownNames()).toEqual(['Renamed again']))
})

test('changes of something else leave the shared replies alone', async () => {
  const shown = await shownNames()
  const heard: string[] = []
  const stop = shop.ctx.changes.subscribe(event => {
    for (const { resource } of event?.changes ?? []) heard.push(resource)
  })
  await other.db.update(products).set({ name: 'Not told yet' })
  await eventually(() => {
    other.changes.publish([{ resource: 'order', id: 1 }])
    expect(heard).toContain('order')
  })
  stop()
  expect(await shownNames()).toEqual(shown)
})
