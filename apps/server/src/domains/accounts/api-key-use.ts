import { refuse, type Refusal, type Route } from '@netlet/contract'
import { API_KEY_CALLS_A_MINUTE as CALLS_A_MINUTE } from '@netlet/contract/limits'
import { and, eq, isNull, ne, or, sql } from '../../infra/db/drizzle.ts'
import type { UserActor } from '../../infra/actor.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { clientNetwork } from '../../infra/http/client-address.ts'
import { apiKeyNetworks, apiKeys } from './tables.ts'

/** After this time without a call, a network of a key counts as new again. */
export const NETWORKS_KEPT = 90 * DAY

/** '2026-11-22', UTC. */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10)

/**
 * Counts a key's call. The audit log gets one entry for each new network, and one for each network and day in which the
 * key reads credentials.
 * @returns a refusal if the key has called too often in this minute
 */
export function countKeyCall(
  ctx: AppContext,
  by: UserActor,
  key: { id: number; name: string },
  route: Route
): Promise<Refusal | null> {
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    const minute = new Date(Math.floor(now.getTime() / MINUTE) * MINUTE)
    const network = clientNetwork(by.ip)
    const isSame = sql`${apiKeys.countedSince} = ${minute.toISOString()}::timestamptz`
    const [counted] = await tx
      .update(apiKeys)
      .set({
        calls: sql`case when ${isSame} then ${apiKeys.calls} + 1 else 1 end`,
        countedSince: minute,
        lastUsedAt: sql`case when ${isSame} then ${apiKeys.lastUsedAt} else ${now.toISOString()}::timestamptz end`,
        lastNetwork: sql`case when ${isSame} then ${apiKeys.lastNetwork} else ${network}::inet end`
      })
      .where(
        and(
          eq(apiKeys.id, key.id),
          // Calls beyond the limit write nothing.
          or(isNull(apiKeys.countedSince), sql`not ${isSame}`, sql`${apiKeys.calls} < ${CALLS_A_MINUTE}`)
        )
      )
      .returning({ id: apiKeys.id })
    if (!counted) {
      const seconds = Math.max(1, Math.ceil((minute.getTime() + MINUTE - now.getTime()) / 1000))
      const params = { max: CALLS_A_MINUTE, seconds }
      return refuse('key_rate_limited', { params, data: { retry_after: seconds } })
    }
    await auditUse(unit, network, key, route)
    return null
  })
}

async function auditUse(unit: Unit, network: string, key: { id: number; name: string }, route: Route): Promise<void> {
  const { tx, now } = unit
  const today = dayOf(now)
  const after = { name: key.name, network, call: `${route.method} ${route.path}` }
  const isThis = and(eq(apiKeyNetworks.keyId, key.id), sql`${apiKeyNetworks.network} = ${network}::inet`)
  const added = await tx
    .insert(apiKeyNetworks)
    .values({ keyId: key.id, network, firstUsedAt: now, lastUsedOn: today })
    .onConflictDoNothing()
    .returning({ keyId: apiKeyNetworks.keyId })
  if (added.length > 0) unit.audit('api_key.use_new_network', key.id, { after })
  else
    await tx
      .update(apiKeyNetworks)
      .set({ lastUsedOn: today })
      .where(and(isThis, ne(apiKeyNetworks.lastUsedOn, today)))
  if (route.reveals !== 'credentials') return
  const notToday = or(isNull(apiKeyNetworks.credentialsReadOn), ne(apiKeyNetworks.credentialsReadOn, today))
  const read = await tx
    .update(apiKeyNetworks)
    .set({ credentialsReadOn: today })
    .where(and(isThis, notToday))
    .returning({ keyId: apiKeyNetworks.keyId })
  if (read.length > 0) unit.audit('api_key.read_credentials', key.id, { after })
}
