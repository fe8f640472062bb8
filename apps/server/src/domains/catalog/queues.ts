import { queue } from '../../infra/jobs.ts'

/** Lets the catalogue follow a product webhook that was noted. */
export const applyProductEventQueue = queue<{ eventId: string }>('catalog.apply-product-event')

/** Tells the platform where to send its webhooks, after its settings changed. */
export const registerWebhooksQueue = queue('catalog.register-webhooks')
