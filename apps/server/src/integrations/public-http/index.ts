/**
 * Requests to addresses that customers and operators enter, such as webhooks. No other code sends these. Fixed third
 * parties are called with `http-exchange.ts`.
 */
export { postPublicly, type PublicFailure, type PublicReply } from './post.ts'
export { lookUpPublicly, type Resolve } from './resolve.ts'
export { forbiddenTarget, type PublicHttpPolicy } from './target.ts'
