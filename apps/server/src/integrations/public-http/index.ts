/**
 * Requests to addresses that customers and operators enter, such as webhooks. No other code sends these. Fixed third
 * parties are called with `http-exchange.ts`.
 */
export { postToPublicAddress, type PublicFailure, type PublicReply } from './post.ts'
export { resolvePublicHost, type Resolve } from './resolve.ts'
export { forbiddenTarget, type PublicHttpPolicy } from './target.ts'
