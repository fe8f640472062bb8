/**
 * Requests to addresses that people outside of this house enter: webhooks of customers and operators. The one place
 * that sends these. Third parties whose addresses are ours to choose are called by `http-exchange.ts`.
 */
export { postPublicly, type PublicFailure, type PublicReply } from './post.ts'
export { lookUpPublicly, type Resolve } from './resolve.ts'
export { forbiddenTarget, type PublicHttpPolicy } from './target.ts'
