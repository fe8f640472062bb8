import { SYSTEM } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import { endMaintenance } from './incidents.ts'
import { isUnconfirmed, mailUpdate, UNCONFIRMED_FOR } from './subscribers.ts'
import { sampleStatusQueue, statusMailsQueue } from './queues.ts'
import { sampleStatus } from './sample.ts'
import type { ReadProxyChecks } from './states.ts'
import { STATUS_DAYS } from '@netlet/contract'
import { and, lt } from '../../infra/db/drizzle.ts'
import { DAY, iso } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { statusDays, statusSubscribers } from './tables.ts'

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

export const statusRetention: RetentionEntry[] = [
  {
    what: 'status_days',
    keep: { ms: STATUS_DAYS * DAY },
    why: 'Uptime of each server per day, shown as bars on the status page.',
    remove: (unit, before, limit) => removeRows(unit, statusDays, lt(statusDays.day, iso(before).slice(0, 10)), limit),
    count: db => countRows(db, statusDays, statusDays.day)
  },
  {
    what: 'status_subscribers',
    keep: { ms: UNCONFIRMED_FOR },
    why: 'Subscribers to incident emails who did not confirm their address. Confirmed ones stay until they unsubscribe.',
    remove: (unit, before, limit) =>
      removeRows(unit, statusSubscribers, and(isUnconfirmed, lt(statusSubscribers.askedAt, before)), limit),
    count: db => countRows(db, statusSubscribers, statusSubscribers.askedAt, isUnconfirmed)
  }
]
