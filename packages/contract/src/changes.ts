import { z } from 'zod'
import { route } from './route.ts'

/**
 * The change feed (server-sent events). Each event `change` carries `{"changes": [{"resource", "id"?}]}` and an id. A
 * browser that reconnects with `Last-Event-ID` gets the missed events, or `reset` if there were too many; it then reads
 * everything on the screen again. Customers receive changes of their own orders, account, coupons and API keys and,
 * without an id, of what all customers see: products, collections, tags, questions, levels, gift cards and settings.
 */
export const changes = {
  feed: route('GET', '/api/events', {
    summary: 'What changes, as server-sent events',
    access: 'user',
    reply: z.string(),
    raw: 'text/event-stream'
  })
}
