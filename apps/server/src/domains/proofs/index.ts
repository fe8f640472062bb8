/**
 * Trying credentials at the proxies: old ones after their end, new ones before they are handed over (docs/FLEET.md). It
 * owns access_proofs. What fails is repaired and withheld from stock, until it is mended or acknowledged. The domains
 * that end or replace credentials ask for proofs in their own transactions.
 */
export { countOpenProofs, proofsOfLeases, proofFinder } from './failed-proofs.ts'
export {
  confirmReplaced,
  endFutureTries,
  forgetUnconfirmed,
  readHeld,
  recordNewCredentials,
  recordUnproved,
  requestReplacedProofs,
  requestRevocationProofs
} from './request-proofs.ts'
export { isWithin, tryNewCredentials } from './try-credentials.ts'
export { proofJobs } from './jobs.ts'
export { proofRetention } from './retention.ts'
export { proofRoutes } from './routes.ts'
