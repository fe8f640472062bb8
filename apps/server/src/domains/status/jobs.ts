import { SYSTEM } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import { endMaintenance } from './incidents.ts'
import { mailUpdate } from './subscribers.ts'
import { sampleStatusQueue, statusMailsQueue } from './queues.ts'
import { sampleStatus } from './sample.ts'
import type { ReadProxyChecks } from './states.ts'

type Ports = { proxyChecks: (config: AppContext['config']) => ReadProxyChecks }

/** @param ports.proxyChecks recent results of proxy checks */
export const statusJobs = ({ proxyChecks }: Ports): Job[] => [
  job(sampleStatusQueue, {
    purpose: 'Adds the state of every server to the status page, and ends planned maintenance on time.',
    cron: '* * * * *',
    async run(ctx) {
      await sampleStatus(ctx, proxyChecks(ctx.config))
      await endMaintenance(ctx, SYSTEM)
    }
  }),
  job(statusMailsQueue, {
    purpose: 'Emails an incident update to status page subscribers, 100 at a time.',
    importance: 'background',
    run: mailUpdate
  })
]
