/**
 * What the shop sells: products, variants, collections, tags, and the price of a selection. It owns products,
 * product_options, product_collections, product_tags, variants, collections, tags, price_drifts, catalog_syncs and
 * catalog_sync_runs; other domains change them only through the commands here. Two event handlers follow the platform.
 * Its stock figures are for lists; orders never rely on them.
 */
export { type Advertised, advertisedProduct, countLowStock, productsOnSale, searchProducts } from './list-products.ts'
export { applyProductDeletion, applyProductUpdate } from './apply-product-event.ts'
export { createProduct } from './create-product.ts'
export { deleteTag, updateCollection, updateTag } from './edit-groupings.ts'
export { type OptionChoice, findVariant, priceOneAddress } from './quote.ts'
export { catalogJobs } from './jobs.ts'
export { listPlatformProducts } from './platform-products.ts'
export { rulePrices } from './write-platform-prices.ts'
export { comparePrices, countPriceDrifts } from './price-drift.ts'
export { findShortage } from './stock-board.ts'
export { openReplyCache } from './offers.ts'
export { catalogRoutes } from './routes.ts'
export { termOf, variantsSellingFrom } from './snapshot.ts'
export { catalogFinders } from './jobs.ts'
export { syncCollections, syncTags } from './sync-groupings.ts'
export { forgetSyncActor } from './sync-runs/list-runs.ts'
export { syncRetention } from './jobs.ts'
export { findUnsellable } from './check-product.ts'
export { wholeCents } from './whole-cents.ts'
