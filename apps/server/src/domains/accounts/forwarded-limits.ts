import { refuse, type Refusal } from '@netlet/contract'
import type { UserActor, VisitorActor } from '../../infra/actor.ts'
import type { Unit } from '../../infra/command.ts'
import { FAILURE_WINDOW, keyStartsWith } from './attempts.ts'
import { clientNetwork, limitedClient, widerNetworks, widestNetwork } from '../../infra/http/client-address.ts'
import { and, eq, gt } from '../../infra/db/drizzle.ts'
import { HOUR } from '../../infra/clock.ts'
import { lock } from '../../infra/db/locks.ts'
import { loginFailures } from './tables.ts'
import { notifyAdmins } from './operators.ts'

/** The longest time that any request or failure counts, in milliseconds. */
export const COUNTED_FOR = HOUR

/**
 * Counts a request within its command; a later refusal of the command reverts the count. Success and failure count
 * alike, so that the limit reveals nothing.
 * @param key what is requested, and by whom
 * @param limit `withinMs`: at most `COUNTED_FOR`
 * @returns the requests within that time, including this one; null if they would exceed `most`
 */
export async function countRequest(
  { tx, now }: Unit,
  key: string,
  { most, withinMs }: { most: number; withinMs: number }
): Promise<number | null> {
  // Each concurrent request sees the ones before it.
  await lock(tx, 'asks', key)
  const recent = and(eq(loginFailures.key, key), gt(loginFailures.at, new Date(now.getTime() - withinMs)))
  const before = await tx.$count(loginFailures, recent)
  if (before >= most) return null
  await tx.insert(loginFailures).values({ key, at: now })
  return before + 1
}

/**
 * `countRequest` for each client, and a few times as many for the networks around it.
 * @returns whether the request is within the limits
 */
export async function countClientRequest(
  unit: Unit,
  what: string,
  by: UserActor | VisitorActor,
  limit: { most: number; withinMs: number }
): Promise<boolean> {
  const client = limitedClient(by)
  await lock(unit.tx, 'asks', `${what}:${widestNetwork(client)}`)
  const since = new Date(unit.now.getTime() - limit.withinMs)
  for (const { prefix, timesAll } of widerNetworks(client)) {
    const around = and(keyStartsWith(`${what}:${prefix}`), gt(loginFailures.at, since))
    if ((await unit.tx.$count(loginFailures, around)) >= limit.most * timesAll) return false
  }
  return (await countRequest(unit, `${what}:${client}`, limit)) !== null
}

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
  const counted = await countRequest(unit, key, { most: MAX_FORWARDED, withinMs: FAILURE_WINDOW })
  if (counted === null) return refuse('too_many')
  if (counted === MAX_FORWARDED)
    await notifyAdmins(unit, {
      words: `forwarded_${what}`,
      params: { ip: by.ip, count: MAX_FORWARDED },
      key: `forwarded:${what}:${unit.now.toISOString().slice(0, 10)}`
    })
  return null
}
