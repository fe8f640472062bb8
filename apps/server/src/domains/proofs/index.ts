import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import { signatureOf } from './dial.ts'
import { acknowledgeProof, listProofs } from './failed-proofs.ts'
import { job, type Job } from '../../infra/job.ts'
import { proveAccess, proveDue } from './prove.ts'
import { proveQueue } from './request-proofs.ts'
import { queue } from '../../infra/jobs.ts'
import { and, eq, isNull, lt, or } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { accessProofs } from './tables.ts'

/**
 * Trying credentials at the proxies: old ones after their end, new ones before they are handed over (docs/FLEET.md). It
 * owns access_proofs. What fails is repaired and withheld from stock, until it is mended or acknowledged. The domains
 * that end or replace credentials ask for proofs in their own transactions.
 */
export { countOpenProofs, proofsOfLeases, proofFinder } from './failed-proofs.ts'
export {
  confirmReplaced,
  endFutureTries,
  dropUnconfirmed,
  readFormerUsers,
  recordNewCredentials,
  recordUnproved,
  requestReplacedProofs,
  requestRevocationProofs
} from './request-proofs.ts'
export { isWithin, tryNewCredentials } from './try-credentials.ts'

export function proofRoutes(mount: Mount, ctx: AppContext): void {
  const { fleet } = routes
  mount(fleet.proofs, async call => ok(await listProofs(ctx.db, call.query)))
  mount(fleet.acknowledgeProof, call => acknowledgeProof(ctx, call.caller, call.params.id))
  mount(fleet.seenFrom, async ({ caller, query: { mark }, reply }) => {
    void reply.header('cache-control', 'no-store')
    return ok({ address: caller.ip, signature: signatureOf(ctx.secrets, { mark, address: caller.ip }) })
  })
}

/** Each minute: starts the tries that are due. */
const proveDueQueue = queue<object>('prove-due-access', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const proofJobs: Job[] = [
  job(proveQueue, {
    purpose:
      "Tests credentials on a server's proxies: old ones must be refused, and new ones must reach the check site.",
    concurrency: 4,
    importance: 'background',
    perGroup: 1,
    run: (ctx, { serverId }) => proveAccess(ctx, serverId)
  }),
  job(proveDueQueue, {
    purpose: 'Schedules credential tests that are due on every server.',
    cron: '* * * * *',
    run: proveDue
  })
]

const PROOFS_KEPT = 2 * 366 * DAY

/** Settled proofs that do not record the end of a lease. Repeated password resets make many of them. */
const isPassing = and(
  isNull(accessProofs.nextAt),
  isNull(accessProofs.generation),
  or(eq(accessProofs.kind, 'hand_over'), eq(accessProofs.cause, 'password'))
)

export const proofRetention: RetentionEntry[] = [
  {
    what: 'access_proofs',
    keep: { ms: PROOFS_KEPT },
    why: 'Checks of new credentials and old passwords, which are part of the order history. Checks after the end of a lease are kept as long as the lease.',
    remove: (unit, before, limit) =>
      removeRows(unit, accessProofs, and(lt(accessProofs.askedAt, before), isPassing), limit),
    count: db => countRows(db, accessProofs, accessProofs.askedAt, isPassing)
  }
]
