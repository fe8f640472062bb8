import { refuse, type Refusal } from '@netlet/contract'
import type { UserActor, VisitorActor } from '../../infra/actor.ts'
import type { Unit } from '../../infra/command.ts'
import { countAsk } from './asks.ts'
import { FAILURE_WINDOW } from './attempts.ts'
import { clientNetwork } from './client-network.ts'
import { notifyAdmins } from './notify-admins.ts'

/** Within 15 minutes, from all clients of one proxy. */
const MAX_FORWARDED = 150

/**
 * Counts requests of a proxy's clients if TRUST_PROXY does not name the proxy. It may forward made-up addresses, so
 * limits for each client would not hold. Only requests that passed those limits count, so one client cannot use this
 * one up unless its proxy lets it make up addresses. Administrators are notified once a day.
 */
export async function countForwarded(
  unit: Unit,
  by: UserActor | VisitorActor,
  what: 'code' | 'ticket' | 'status'
): Promise<Refusal | null> {
  if (!by.forwardedFor) return null
  const key = `forwarded-${what}:${clientNetwork(by.ip)}`
  const counted = await countAsk(unit, key, { most: MAX_FORWARDED, withinMs: FAILURE_WINDOW })
  if (counted === null) return refuse('too_many')
  if (counted === MAX_FORWARDED)
    await notifyAdmins(unit, {
      words: `forwarded_${what}`,
      params: { ip: by.ip, count: MAX_FORWARDED },
      key: `forwarded:${what}:${unit.now.toISOString().slice(0, 10)}`
    })
  return null
}
