/**
 * The console's first screen (setup, attention, sales, stock, endings, delivery times) and the search of its command
 * palette. It owns no table and only reads other domains. Each panel has a call of its own, each kind of search results
 * its permission. It is the top domain: only the composition of the app imports it.
 */
import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { sendCsv } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import { countLowStock } from '../catalog/index.ts'
import { readDeliveries } from './deliveries.ts'
import { readEndings } from './endings.ts'
import { attentionFor, readAttention, readSetup } from './attention.ts'
import { readSales, salesCsv } from './sales.ts'
import { search } from './search.ts'
import { readStockMap, sharedRead } from './stock-map.ts'

export { readDeliveries, readStockMap, sharedRead }

/** Milliseconds for which all open consoles share one read of a panel. */
const BRIEF = 1000
/** The same for expensive counts. They may be this old even after changes. */
const LONG = 15_000

export function homeRoutes(mount: Mount, ctx: AppContext): void {
  const { home } = routes
  const { db, now } = ctx
  // A browser reads again as soon as it hears of a change, so it must not get a reply from before the change.
  let heard = 0
  ctx.changes.subscribe(() => void (heard += 1))
  const changes = () => heard
  const setup = sharedRead(now, BRIEF, () => readSetup(ctx), changes)
  const lowStock = sharedRead(now, LONG, () => countLowStock(db))
  const attention = sharedRead(now, BRIEF, () => readAttention(ctx, { lowStock }), changes)
  const sales = sharedRead(now, BRIEF, () => readSales(db, now()), changes)
  const stock = sharedRead(now, LONG, () => readStockMap(db))
  const endings = sharedRead(now, LONG, () => readEndings(db, now()))
  const deliveries = sharedRead(now, LONG, () => readDeliveries(db, now()))

  mount(home.setup, async () => ok(await setup()))
  mount(home.attention, async ({ caller }) => ok(attentionFor(await attention(), caller)))
  mount(home.sales, async () => ok(await sales()))
  mount(home.salesCsv, async ({ query, reply }) => {
    await sendCsv(reply, await salesCsv(db, query.in_month ?? now().toISOString().slice(0, 7)))
    return SENT
  })
  mount(home.stock, async () => ok(await stock()))
  mount(home.endings, async () => ok(await endings()))
  mount(home.deliveries, async () => ok(await deliveries()))
  mount(home.search, async ({ caller, query }) => ok(await search(ctx, caller, query.q)))
}
