import { job, type Job } from '../../infra/job.ts'
import { resolveAllProxyNames, resolveProxyNames, proxyNamesQueue } from './proxy-names.ts'
import { readPublicCertificate } from './ending-certificates.ts'
import { queue } from '../../infra/jobs.ts'

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
