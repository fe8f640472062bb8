import { and, eq, inArray, isNull, ne } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { serverGroupServers, serverReports, servers } from '../servers/tables.ts'
import { tlsOf } from '../servers/index.ts'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The name of a proxy over TLS. `leads`: it leads to the proxy's address; otherwise clients need that too. */
type HttpsHost = { host: string; leads: boolean }

/** What is known of the certificate that a server's proxies show, and of where its names lead. */
type TlsOffer = { names: readonly string[]; leads: Readonly<Record<string, readonly string[]>> }

const canonical = (address: string): string => (ipaddr.isValid(address) ? ipaddr.process(address).toString() : address)

/** An address as a label below a wildcard: 203-0-113-7, 2001-db8--1. No hyphen at either end. */
export function wildcardLabel(address: string): string {
  const dashed = canonical(address).replaceAll(/[.:]/g, '-')
  return `${dashed.startsWith('-') ? '0' : ''}${dashed}${dashed.endsWith('-') ? '0' : ''}`
}

const isWildcard = (name: string): boolean => /^\*\.[^*]+$/.test(name)

/** The name that a wildcard has for an address. */
const nameBelow = (wildcard: string, address: string): string => `${wildcardLabel(address)}${wildcard.slice(1)}`

/** What to look up for a name of a certificate: for a wildcard, the sample address's name below it. Null: nothing. */
export function nameToResolve(name: string, sample: string | null): string | null {
  if (isIP(name) !== 0) return null
  if (!isWildcard(name)) return name.includes('*') ? null : name
  return sample === null ? null : nameBelow(name, sample)
}

/** A name that leads to several addresses takes a client to any of them. */
const leadsTo = ({ leads }: TlsOffer, name: string, address: string): boolean => {
  const found = leads[name] ?? []
  return found.length === 1 && found[0] === address
}

/** The name for a proxy: its address if the certificate has it, then a name that leads there, then any. */
export function httpsHost(offer: TlsOffer, ip: string): HttpsHost | null {
  const address = canonical(ip)
  const { names } = offer
  if (names.some(name => isIP(name) !== 0 && canonical(name) === address)) return { host: address, leads: true }
  const hosts = names.filter(name => isIP(name) === 0)
  const plain = hosts.filter(name => !name.includes('*'))
  const leading = plain.find(name => leadsTo(offer, name, address))
  if (leading !== undefined) return { host: leading, leads: true }
  const wildcards = hosts.filter(isWildcard)
  // Below a wildcard one address was looked up. If its name leads there, the other names are assumed to lead to theirs.
  const proven = wildcards.find(name => (offer.leads[name]?.length ?? 0) === 1)
  if (proven !== undefined) return { host: nameBelow(proven, address), leads: true }
  const [any = wildcards[0] && nameBelow(wildcards[0], address)] = plain
  return any === undefined ? null : { host: any, leads: false }
}

/** What these servers' proxies offer over TLS, as their agents last reported. Servers without TLS are left out. */
export async function readOffers(db: Executor, serverIds: number[], now: Date): Promise<Map<number, TlsOffer>> {
  if (serverIds.length === 0) return new Map()
  const rows = await db
    .select({ id: servers.id, agentSettings: servers.agentSettings, report: serverReports.report })
    .from(servers)
    .innerJoin(serverReports, eq(serverReports.serverId, servers.id))
    .where(inArray(servers.id, serverIds))
  return new Map(
    rows.flatMap(row => {
      const { proxy, proxy_names: names = [] } = row.report.certificates ?? {}
      // Clients refuse a certificate past its end. An older agent reports no names.
      if (!proxy || Date.parse(proxy) <= now.getTime() || names.length === 0) return []
      return [[row.id, { names, leads: tlsOf(row)?.leads ?? {} }] as const]
    })
  )
}

export const readOffer = async (db: Executor, serverId: number, now: Date): Promise<TlsOffer | undefined> =>
  (await readOffers(db, [serverId], now)).get(serverId)

/** Which of these groups have TLS on each of their servers. Servers that were given up do not count. */
export async function groupsWithTls(db: Executor, groupIds: number[], now = new Date()): Promise<Set<number>> {
  if (groupIds.length === 0) return new Set()
  const members = await db
    .select({ groupId: serverGroupServers.groupId, serverId: servers.id })
    .from(serverGroupServers)
    .innerJoin(servers, eq(servers.id, serverGroupServers.serverId))
    .where(
      and(inArray(serverGroupServers.groupId, groupIds), isNull(servers.deletedAt), ne(servers.status, 'given_up'))
    )
  const offers = await readOffers(db, [...new Set(members.map(({ serverId }) => serverId))], now)
  const of = Map.groupBy(members, ({ groupId }) => groupId)
  return new Set([...of].filter(([, all]) => all.every(({ serverId }) => offers.has(serverId))).map(([id]) => id))
}
