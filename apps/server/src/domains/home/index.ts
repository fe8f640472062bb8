/**
 * The console's first screen (what is left to set up, what needs attention, sales, stock, endings and delivery times), and the
 * search of its command palette. It owns no table and changes nothing; it reads what the other domains keep: each panel by a
 * call of its own, and each kind of rows that is found, with its permission. It is at the top: nothing imports it but the
 * composition of the app.
 */
import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { sendCsv } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import { countLowStock } from '../catalog/index.ts'
import { readDeliveries } from './deliveries.ts'
import { readEndings } from './endings.ts'
import { attentionFor, readAttention } from './attention.ts'
import { salesCsv } from './sales-csv.ts'
import { readSales } from './sales.ts'
import { search } from './search.ts'
import { readSetup } from './setup.ts'
import { sharedRead } from './shared-read.ts'
import { readStockMap } from './stock-map.ts'

export { readDeliveries }

/** Milliseconds: however many consoles are open, each panel is read once in this time. */
const BRIEF = 1000
/** What is counted by group and rule, or over many rows. It may be this old, whatever changes meanwhile. */
const LONG = 15_000

/** Puts the calls of the console's first screen and of its search on the server. */
export function homeRoutes(mount: Mount, ctx: AppContext): void {
  const { home } = routes
  const { db, now } = ctx
  // A browser that hears of a change asks at once, and would keep what was read before it until it asks again.
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
  mount(home.attention, async ({ caller }) => ok(attentionFor(await attention(), caller.role)))
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
