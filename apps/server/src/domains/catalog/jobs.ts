import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { readProductQueue } from './apply-product-event.ts'
import { readPrices, readProducts, rereadProduct } from './read-platform.ts'
import { syncQueue } from './sync-runs/queue.ts'
import { workOnSync } from './sync-runs/work.ts'

const readPricesQueue = queue<object>('read-platform-prices', { retryLimit: 3, expireInSeconds: 600 })

export const readProductsQueue = queue<{ asked?: boolean }>('read-platform-products', {
  retryLimit: 5,
  expireInSeconds: 1800
})

export const catalogJobs: Job[] = [
  job(readPricesQueue, {
    purpose: 'Reads all prices from the platform, updates those that differ, and lists the rest.',
    cron: '7 * * * *',
    run: readPrices
  }),
  job(readProductsQueue, {
    purpose: 'Rereads all products from the platform, to catch changes that no webhook reported.',
    cron: '37 4 * * *',
    run: readProducts
  }),
  job(readProductQueue, {
    purpose: 'Rereads a product with more than 100 variants after its webhook, which describes only 100.',
    run: (ctx, { platformId }) => rereadProduct(ctx, platformId)
  }),
  job(syncQueue, {
    purpose: 'Reads the platform for a sync that an operator started, or applies its plan.',
    // A cancelled sync may still wait for the platform. The next one must not wait for it.
    concurrency: 2,
    run: (ctx, { runId }) => workOnSync(ctx, runId)
  })
]
