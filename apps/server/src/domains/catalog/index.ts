import type { Shop } from '../../platform/shop.ts'
import { applyProductEvent } from './apply-product-event.ts'
import { applyProductEventQueue } from './queues.ts'

export { createProduct } from './create-product.ts'
export { findVariant, type OptionChoice, type SellableVariant } from './find-variant.ts'
export { finishPlatformEvent, recordPlatformEvent, takePlatformEvent, type PlatformEvent } from './platform-events.ts'
export { listPlatformProducts } from './platform-products.ts'
export { syncCollections, syncTags } from './sync-groupings.ts'
export { openPlatform, platformRefusal } from './platform.ts'
export { priceSelection, type PricedSelection } from './price-selection.ts'
export { catalogRoutes } from './routes.ts'

export const catalogQueues = [applyProductEventQueue]

/** Works on the catalogue's background jobs in this process. */
export async function catalogJobs(shop: Shop): Promise<void> {
  await shop.jobs.work(applyProductEventQueue, ({ eventId }) => applyProductEvent(shop, eventId))
}
