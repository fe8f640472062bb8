import type { SyncKind, SyncStep } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { ok, type Result } from '../../infra/result.ts'
import { storableText } from '../../infra/text.ts'
import type { Shopify, ShopifyCollection, ShopifyProduct } from '../../integrations/shopify/index.ts'
import { openPlatform, platformRefusal } from '../commerce/index.ts'
import { productsOnPlatform } from './snapshot.ts'

/** The platform's data, read before anything is written. Lists that a kind of sync does not need are empty. */
export type PlatformSource = { sold: ShopifyProduct[]; collections: ShopifyCollection[]; tags: string[] }

/** Reports the progress of a sync. Throws if the sync is to stop. */
export type Report = (step: SyncStep, done: number, total?: number | null) => Promise<void>

const reportNothing: Report = async () => {}

/** Reads what a sync of this kind needs, page by page. */
export async function readSource(
  ctx: AppContext,
  what: SyncKind,
  report: Report = reportNothing
): Promise<Result<PlatformSource>> {
  const opened = await openPlatform(ctx)
  if (!opened.ok) return opened
  const platform = opened.data
  await report('groupings', 0)
  const source: PlatformSource = { sold: [], collections: [], tags: [] }
  if (what !== 'tags') {
    const theirs = await platform.collections()
    if (!theirs.ok) return platformRefusal(theirs)
    source.collections = theirs.value
  }
  if (what !== 'collections') {
    const theirs = await platform.productTags()
    if (!theirs.ok) return platformRefusal(theirs)
    source.tags = theirs.value
  }
  const sold = await readProducts(platform, report)
  if (!sold.ok) return sold
  source.sold = sold.data
  if (what === 'catalogue') {
    const others = await readOthers(ctx, platform, { sold: sold.data, report })
    if (!others.ok) return others
    source.sold.push(...others.data)
  }
  return ok(storable(source))
}

async function readProducts(platform: Shopify, report: Report): Promise<Result<ShopifyProduct[]>> {
  const total = await platform.productCount()
  if (!total.ok) return platformRefusal(total)
  await report('products', 0, total.value)
  const sold: ShopifyProduct[] = []
  for await (const part of platform.productPages()) {
    if (!part.ok) return platformRefusal(part)
    // The shop has its own descriptions, and these would only take memory.
    sold.push(...part.value.map(product => ({ ...product, description: '' })))
    // Products may have been added since the count.
    await report('products', sold.length, total.value && Math.max(total.value, sold.length))
  }
  return ok(sold)
}

/** Our products that were on no page, read one by one: the platform may have changed between two pages. */
async function readOthers(
  ctx: AppContext,
  platform: Shopify,
  { sold, report }: { sold: readonly ShopifyProduct[]; report: Report }
): Promise<Result<ShopifyProduct[]>> {
  const seen = new Set(sold.map(product => product.id))
  const missing = (await productsOnPlatform(ctx.db)).filter(id => !seen.has(id))
  const found: ShopifyProduct[] = []
  for (const [at, id] of missing.entries()) {
    await report('single', at, missing.length)
    const product = await platform.product(id)
    if (product.ok) found.push({ ...product.value, description: '' })
    else if (product.reason !== 'not_found') return platformRefusal(product)
  }
  return ok(found)
}

/** Normalizes texts as the database does, so that a plan and the sync after it see the same texts. */
const storable = (source: PlatformSource): PlatformSource =>
  JSON.parse(
    JSON.stringify(source, (_key, value: unknown) => (typeof value === 'string' ? storableText(value) : value))
  ) as PlatformSource
