import { z } from 'zod'
import { route } from './route.ts'

/**
 * The change feed (server-sent events). Each event `change` carries `{"changes": [{"resource", "id"?}]}` and an id;
 * a browser that reconnects with `Last-Event-ID` gets what it missed, or an event `reset` where too much happened:
 * then everything on the screen is read again. Customers are told of what is their own (orders, their account, coupons and
 * API keys) and, without an id, of what every customer sees: products, collections, tags, questions, levels, gift cards
 * and the settings.
 */
export const changes = {
  feed: route('GET', '/api/events', {
    summary: 'What changes, as server-sent events',
    access: 'user',
    reply: z.string(),
    raw: 'text/event-stream'
  })
}
