import { and, eq, isNull, lt, or } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { accessProofs } from './tables.ts'

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
