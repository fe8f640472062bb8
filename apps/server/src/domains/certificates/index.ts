/**
 * TLS between clients and proxies: what operators want, what agents were sent and show, where the names lead; and when
 * certificates end, the shop's own among them. It owns public_certificate. The wanted TLS of a server is kept in its row,
 * through commands of servers.
 */
export { repairTls, sendTls } from './send-tls.ts'
export { groupsWithTls, httpsHost, readOffers } from './tls-offer.ts'
export { certificateFinder } from './ending-certificates.ts'
export { certificateJobs } from './jobs.ts'
export { certificateRoutes } from './routes.ts'
