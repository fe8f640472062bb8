import { refuse, type Refusal } from '@netlet/contract'
import { and, eq, gt } from 'drizzle-orm'
import type { UserActor, VisitorActor } from '../../infra/actor.ts'
import type { Unit } from '../../infra/command.ts'
import { lock } from '../../infra/db/locks.ts'
import { FAILURE_WINDOW } from './attempts.ts'
import { clientNetwork } from './client-network.ts'
import { notifyAdmins } from './notify-admins.ts'
import { loginFailures } from './tables.ts'

/** Within 15 minutes, of all whom one proxy forwards for. */
const MAX_FORWARDED = 150

/**
 * Counts what was let in for a client that only a proxy names which TRUST_PROXY does not: the proxy may pass on what its
 * client made up, and so the limits per client would hold nobody. Only what those limits let in counts here, so that one
 * client does not use it up, unless its proxy lets it make up names: nothing tells it from the others then, and the
 * administrators are told once a day.
 */
export async function countForwarded(
  unit: Unit,
  by: UserActor | VisitorActor,
  what: 'code' | 'ticket' | 'status'
): Promise<Refusal | null> {
  const { tx, now } = unit
  if (!by.forwardedFor) return null
  const key = `forwarded-${what}:${clientNetwork(by.ip)}`
  await lock(tx, 'forwardedClients', key)
  const recent = and(eq(loginFailures.key, key), gt(loginFailures.at, new Date(now.getTime() - FAILURE_WINDOW)))
  const counted = await tx.$count(loginFailures, recent)
  if (counted >= MAX_FORWARDED) return refuse('too_many')
  await tx.insert(loginFailures).values({ key, at: now })
  if (counted + 1 === MAX_FORWARDED)
    await notifyAdmins(unit, {
      words: `forwarded_${what}`,
      params: { ip: by.ip, count: MAX_FORWARDED },
      key: `forwarded:${what}:${now.toISOString().slice(0, 10)}`
    })
  return null
}
