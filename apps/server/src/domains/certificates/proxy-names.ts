import { isDeepStrictEqual } from 'node:util'
import { isNull } from '../../infra/db/drizzle.ts'
import ipaddr from 'ipaddr.js'
import pLimit from 'p-limit'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { resolvePublicHost } from '../../integrations/public-http/index.ts'
import {
  type SyncContext,
  lockServer,
  publishSelling,
  readServerRow,
  saveAgentSettings,
  firstAddressOf,
  tlsOf,
  withTls
} from '../servers/index.ts'
import { servers } from '../servers/tables.ts'
import { nameToResolve, readOffer } from './tls-offer.ts'
import { queue } from '../../infra/jobs.ts'

/** Checks where the names of proxy certificates lead, for one server or all. */
export const proxyNamesQueue = queue<{ serverId?: number }>('look-at-proxy-names', {
  retryLimit: 0,
  // A hundred names can take this long if none resolves.
  expireInSeconds: 300,
  deleteAfterSeconds: 3600
})

/** The addresses that a name leads to; null if no name server answers. */
export type LookUp = (name: string) => Promise<string[] | null>

const AT_ONCE = 8
/** Limit for one name. In milliseconds. */
const PATIENCE = 10_000
/** A name that leads to more addresses does not belong to a proxy. */
const MOST_ADDRESSES = 4

/** Asks the configured name servers. */
export const createLookUp =
  ({ dnsServers }: SyncContext['config']): LookUp =>
  async name => {
    const found = await resolvePublicHost(name, AbortSignal.timeout(PATIENCE), dnsServers)
    // Sorted, because name servers rotate their answers.
    return found && [...new Set(found.map(address => ipaddr.process(address).toString()))].toSorted()
  }

/**
 * Looks up where the names of a server's proxies lead, so that customers are shown those that lead to their proxies. If
 * no name server answers, the last result stays.
 */
export async function resolveProxyNames(
  ctx: SyncContext,
  serverId: number,
  ask = createLookUp(ctx.config)
): Promise<void> {
  const server = await readServerRow(ctx.db, serverId)
  const kept = server && tlsOf(server)
  if (!server || !kept) return
  const names = (await readOffer(ctx.db, serverId, ctx.now()))?.names ?? []
  const sample = (await firstAddressOf(ctx, server))?.host ?? null
  const found = await pLimit(AT_ONCE).map(names, async (name): Promise<[string, string[]][]> => {
    const asked = nameToResolve(name, sample)
    if (asked === null) return []
    const addresses = await ask(asked)
    if (addresses === null) return [[name, kept.leads?.[name] ?? []]]
    // A wildcard leads nowhere unless the sample address's name below it leads to that address.
    const isOther = asked !== name && addresses.join() !== sample
    return [[name, isOther ? [] : addresses.slice(0, MOST_ADDRESSES)]]
  })
  const leads = Object.fromEntries(found.flat())
  if (isDeepStrictEqual(leads, kept.leads ?? {})) return
  await command(ctx, SYSTEM, async unit => {
    const row = await lockServer(unit, serverId)
    const now = row && tlsOf(row)
    if (!row || !now) return
    await saveAgentSettings(unit, serverId, withTls(row, { ...now, leads }))
    unit.publish('server', serverId)
    publishSelling(unit)
  })
}

/** Asks for the same for each server. One job each, so that unanswered names delay no other server. */
export async function resolveAllProxyNames(ctx: SyncContext): Promise<void> {
  const all = await ctx.db.select().from(servers).where(isNull(servers.deletedAt))
  await command(ctx, SYSTEM, async unit => {
    for (const server of all)
      if (tlsOf(server)) unit.jobs.send(proxyNamesQueue, { serverId: server.id }, { key: String(server.id) })
  })
}
