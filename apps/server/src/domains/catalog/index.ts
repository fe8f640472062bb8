import type { AppContext } from '../../infra/context.ts'
import { applyProductEvent } from './apply-product-event.ts'
import { applyProductEventQueue, registerWebhooksQueue } from './queues.ts'
import { registerShopWebhooks } from './register-webhooks.ts'

export { createProduct } from './create-product.ts'
export { deleteTag } from './edit-groupings.ts'
export { findVariant, type OptionChoice, type SellableVariant } from './find-variant.ts'
export { finishPlatformEvent, recordPlatformEvent, takePlatformEvent, type PlatformEvent } from './platform-events.ts'
export { receivePlatformEvent } from './receive-platform-event.ts'
export { listPlatformProducts } from './platform-products.ts'
export { openPlatform, platformRefusal } from './platform.ts'
export { priceSelection, type PricedSelection } from './price-selection.ts'
export { requestWebhooks } from './register-webhooks.ts'
export { catalogRoutes } from './routes.ts'
export { variantsSellingFrom } from './selling.ts'
export { syncCollections, syncTags } from './sync-groupings.ts'

export const catalogQueues = [applyProductEventQueue, registerWebhooksQueue]

/** Works on the catalogue's background jobs in this process. */
export async function catalogJobs(ctx: AppContext): Promise<void> {
  await ctx.jobs.work(applyProductEventQueue, ({ eventId }) => applyProductEvent(ctx, eventId))
  await ctx.jobs.work(registerWebhooksQueue, () => registerShopWebhooks(ctx))
}
