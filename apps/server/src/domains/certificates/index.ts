import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { readProxyTls, setProxyTls } from './set-proxy-tls.ts'
import { checkProxyTls } from './check-proxy-tls.ts'
import { job, type Job } from '../../infra/job.ts'
import { proxyNamesQueue, resolveAllProxyNames, resolveProxyNames } from './proxy-names.ts'
import { readPublicCertificate } from './ending-certificates.ts'
import { queue } from '../../infra/jobs.ts'

/**
 * TLS between clients and proxies: what operators want, what agents were sent and show, where the names lead; and when
 * certificates end, the shop's own among them. It owns public_certificate. The wanted TLS of a server is kept in its row,
 * through commands of servers.
 */
export { resendTls, sendTls } from './send-tls.ts'
export { groupsWithTls, httpsHost, readOffers } from './tls-offer.ts'
export { certificateFinder } from './ending-certificates.ts'

export function certificateRoutes(mount: Mount, ctx: AppContext): void {
  const { fleet } = routes
  mount(fleet.proxyTls, call => readProxyTls(ctx.db, call.params.id, ctx.now()))
  mount(fleet.setProxyTls, call => setProxyTls(ctx, call.caller, call.params.id, call.body))
  mount(fleet.checkProxyTls, call => checkProxyTls(ctx, call.params.id))
}

const publicCertificateQueue = queue<object>('look-at-certificate', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const certificateJobs: Job[] = [
  job(publicCertificateQueue, {
    purpose: 'Checks which certificate the shop shows to visitors, and when it expires.',
    cron: '23 * * * *',
    importance: 'background',
    run: readPublicCertificate
  }),
  job(proxyNamesQueue, {
    purpose:
      'Checks where the host names of server certificates resolve. Customers see the names that resolve to their proxies.',
    cron: '*/10 * * * *',
    importance: 'background',
    run: (ctx, { serverId }) => (serverId === undefined ? resolveAllProxyNames(ctx) : resolveProxyNames(ctx, serverId))
  })
]
