/**
 * What the shop sells: products, variants, collections, tags, and the price of a selection. It owns products,
 * product_options, product_collections, product_tags, variants, collections, tags, price_drifts, catalog_syncs and
 * catalog_sync_runs; other domains change them only through the commands here. Two event handlers follow the platform.
 * Its stock figures are for lists; orders never rely on them.
 */
export { advertisedProduct, productsOnSale, type Advertised } from './advertise.ts'
export { applyProductDeletion, applyProductUpdate } from './apply-product-event.ts'
export { createProduct } from './create-product.ts'
export { deleteTag, updateCollection, updateTag } from './edit-groupings.ts'
export { findVariant, type OptionChoice } from './find-variant.ts'
export { catalogJobs } from './jobs.ts'
export { countLowStock } from './list-products.ts'
export { listPlatformProducts } from './platform-products.ts'
export { rulePrices } from './platform-prices.ts'
export { comparePrices, countPriceDrifts } from './price-drift.ts'
export { priceSelection } from './price-selection.ts'
export { findShortage } from './stock.ts'
export { openReplyCache } from './reply-cache.ts'
export { catalogRoutes } from './routes.ts'
export { searchProducts } from './list-products.ts'
export { termOf, variantsSellingFrom } from './selling.ts'
export { catalogFinders } from './notice-finders.ts'
export { syncCollections, syncTags } from './sync-groupings.ts'
export { forgetSyncActor } from './sync-runs/list-runs.ts'
export { syncRetention } from './sync-runs/retention.ts'
export { unsellable } from './unsellable.ts'
export { wholeCents } from './whole-cents.ts'
