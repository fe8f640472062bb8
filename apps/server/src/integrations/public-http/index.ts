/**
 * Requests to addresses that customers and operators enter, such as webhooks. No other code sends these. Fixed third
 * parties are called with `http-exchange.ts`.
 */
export {
  type PublicFailure,
  type PublicHttpPolicy,
  type PublicReply,
  type Resolve,
  forbiddenTarget,
  postToPublicAddress,
  resolvePublicHost
} from './post.ts'
