import { refuse, routes, type Product } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { command } from '../../infra/command.ts'
import { mountList } from '../../infra/list/index.ts'
import { createProduct } from './create-product.ts'
import { deleteCollection, deleteTag, updateCollection, updateTag } from './edit-groupings.ts'
import { readProductsQueue } from './jobs.ts'
import { priceDriftList, usePlatformPrice, writePlatformPrice } from './price-drift.ts'
import { readProduct } from './list-products.ts'
import { listPlatformProducts, readPlatformProduct } from './platform-products.ts'
import { type StockBoard, groupStock } from './stock-board.ts'
import { syncCollections, syncTags } from './sync-groupings.ts'
import { applySync, cancelSync, startSync } from './sync-runs/work.ts'
import { newestRuns, readPlan } from './sync-runs/list-runs.ts'
import { readLastSync, undoSync } from './undo-sync.ts'
import { deleteProduct, updateProduct } from './update-product.ts'

/** Mounts the calls that change the catalogue. `changed` runs after each successful change. */
export function adminRoutes(
  mount: Mount,
  ctx: AppContext,
  { stock, changed }: { stock: StockBoard; changed: () => void }
): void {
  const { catalog } = routes

  const announced = async <T>(command: Promise<Result<T>>): Promise<Result<T>> => {
    const result = await command
    if (result.ok) changed()
    return result
  }
  const presented = async (saved: Result<{ id: number }>): Promise<Result<Product>> => {
    if (!saved.ok) return saved
    const product = await readProduct(ctx.db, stock, saved.data.id)
    return product ? ok(product) : refuse('not_found')
  }

  mount(catalog.platformProducts, async ({ query }) => listPlatformProducts(ctx, query.search))
  mount(catalog.platformProduct, async ({ params }) => readPlatformProduct(ctx, params.id))
  mount(catalog.groupStock, async ({ query }) =>
    groupStock(ctx.db, { groupId: query.server_group, step: query.cart_step, family: query.address_family })
  )
  mount(catalog.createProduct, async call => presented(await announced(createProduct(ctx, call.caller, call.body))))
  mount(catalog.updateProduct, async call =>
    presented(await announced(updateProduct(ctx, call.caller, call.params.id, call.body)))
  )
  mount(catalog.deleteProduct, async call => announced(deleteProduct(ctx, call.caller, call.params.id)))
  mount(catalog.rereadProducts, async ({ caller }) =>
    command(ctx, caller, async unit => {
      unit.audit('product.reread', 'all')
      unit.jobs.send(readProductsQueue, { asked: true }, { key: 'asked' })
      return ok({ status: 'queued' as const })
    })
  )
  mount(catalog.startSync, async ({ caller, body }) => startSync(ctx, caller, body.what))
  mount(catalog.syncRuns, async () => ok(await newestRuns(ctx.db)))
  mount(catalog.syncPlan, async ({ params }) => readPlan(ctx.db, params.id))
  mount(catalog.applySync, async ({ caller, params }) => applySync(ctx, caller, params.id))
  mount(catalog.cancelSync, async ({ caller, params }) => cancelSync(ctx, caller, params.id))
  mount(catalog.lastSync, async () => ok(await readLastSync(ctx.db)))
  mount(catalog.undoSync, async call => announced(undoSync(ctx, call.caller, call.params)))
  mountList(mount, ctx, catalog.priceDrift, () => priceDriftList)
  mount(catalog.takePlatformPrice, async call =>
    announced(usePlatformPrice(ctx, call.caller, call.params.id, call.body))
  )
  mount(catalog.writePlatformPrice, async call => writePlatformPrice(ctx, call.caller, call.params.id, call.body))
  mount(catalog.updateCollection, async call =>
    announced(updateCollection(ctx, call.caller, call.params.id, call.body))
  )
  mount(catalog.deleteCollection, async call => announced(deleteCollection(ctx, call.caller, call.params.id)))
  mount(catalog.syncCollections, async call => announced(syncCollections(ctx, call.caller)))
  mount(catalog.updateTag, async call => announced(updateTag(ctx, call.caller, call.params.id, call.body)))
  mount(catalog.deleteTag, async call => announced(deleteTag(ctx, call.caller, call.params.id)))
  mount(catalog.syncTags, async call => announced(syncTags(ctx, call.caller)))
}
