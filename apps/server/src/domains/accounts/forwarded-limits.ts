import { refuse, type Refusal } from '@netlet/contract'
import type { UserActor, VisitorActor } from '../../infra/actor.ts'
import type { Unit } from '../../infra/command.ts'
import { countAsk } from './asks.ts'
import { FAILURE_WINDOW } from './attempts.ts'
import { clientNetwork } from './client-network.ts'
import { notifyAdmins } from './notify-admins.ts'

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
