import { type NoticeWords, type Params, agentProblems } from '@netlet/contract'
import { and, asc, desc, eq, gte, isNotNull, isNull, ne, sql } from 'drizzle-orm'
import { DAY, MINUTE, iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type Found, MOST_FOUND, type NoticeFinder } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'
import { countOpenAlarms } from './alarms.ts'
import { ALARM_AFTER, isServedOrder } from './health.ts'
import { isTroubled, troubleSentence } from './list-servers.ts'
import { isOpenProof } from './proofs/alarm.ts'
import { accessProofs, agentUsers, publicCertificate, serverReports, servers } from './tables.ts'
import type { AppContext } from '../../infra/context.ts'
import { firstEndOf } from './certificate.ts'

type Ending = { subject: string; words: NoticeWords; params: Params; ends: string }

/**
 * Certificates that end within `days`, the earliest first: those pinned for agents, those that agents show on their API
 * and proxy ports, and the shop's own. One that ends within a day is critical, because it then blocks every connection.
 */
export async function findCertificates(
  { db, config }: Pick<AppContext, 'db' | 'config'>,
  now: Date,
  days: number
): Promise<Found[]> {
  const all = [...(await ofServers(db)), ...(await ofShop(db, config.publicUrl))]
  return all
    .filter(({ ends }) => Date.parse(ends) < now.getTime() + days * DAY)
    .toSorted((a, b) => Date.parse(a.ends) - Date.parse(b.ends))
    .map(({ ends, params, ...found }) => ({
      ...found,
      params: { ...params, ends },
      ...(Date.parse(ends) <= now.getTime() + DAY ? { severity: 'critical' } : {})
    }))
}

async function ofServers(db: Executor): Promise<Ending[]> {
  const rows = await db
    .select({
      id: servers.id,
      name: servers.name,
      ip: servers.ip,
      pem: servers.agentCertificate,
      report: serverReports.report
    })
    .from(servers)
    .leftJoin(serverReports, eq(serverReports.serverId, servers.id))
    .where(and(isNull(servers.deletedAt), ne(servers.status, 'given_up')))
  return rows.flatMap(({ id, name, ip, pem, report }) => {
    const params = { server: name, ip }
    const told = (subject: string, words: NoticeWords, ends: string | null | undefined): Ending[] =>
      ends ? [{ subject, words, params, ends }] : []
    const pinned = firstEndOf(pem ?? '')
    const { api = null, proxy = null } = report?.certificates ?? {}
    // An agent that shows its pinned certificate makes one notice, not two.
    const isPinned = api !== null && pinned !== null && Date.parse(api) === Date.parse(pinned)
    return [
      ...told(String(id), 'certificate', pinned),
      ...told(`${id}:api`, 'certificate_api', isPinned ? null : api),
      ...told(`${id}:proxy`, 'certificate_proxy', proxy)
    ]
  })
}

/** As the last check of PUBLIC_URL saw it. */
async function ofShop(db: Executor, url: string): Promise<Ending[]> {
  const [seen] = await db.select().from(publicCertificate).where(eq(publicCertificate.url, url))
  return seen ? [{ subject: 'public', words: 'certificate_public', params: { url }, ends: iso(seen.endsAt) }] : []
}

const present = isNull(servers.deletedAt)

/** Finds what operators have to know about servers. */
export const fleetFinders: NoticeFinder[] = [
  { cause: 'server_down', every: 1, find: ({ db }) => findDown(db) },
  {
    cause: 'server_trouble',
    every: 1,
    async find({ db, secrets }, { now }) {
      const { unreachable_after: minutes } = await readSettings(db, secrets)
      return findTrouble(db, new Date(now.getTime() - minutes * MINUTE))
    }
  },
  { cause: 'certificate', every: 10, find: (ctx, { now, threshold }) => findCertificates(ctx, now, threshold) },
  { cause: 'proofs', every: 1, find: ({ db }) => findProofs(db) },
  {
    cause: 'abuse',
    every: 1,
    async find({ db }) {
      const count = await countOpenAlarms(db)
      return count === 0 ? [] : [{ subject: '', words: 'abuse', params: { count }, count }]
    }
  }
]

async function findDown(db: Executor): Promise<Found[]> {
  const orders = sql<number>`(${db
    .select({ count: sql`count(*)::int` })
    .from(agentUsers)
    .where(and(eq(agentUsers.serverId, servers.id), isServedOrder))})`.as('orders')
  const rows = await db
    .select({ server: servers, orders })
    .from(servers)
    .where(
      and(
        present,
        isTroubled,
        eq(servers.connected, false),
        isNotNull(servers.unreachableSince),
        gte(servers.failures, ALARM_AFTER)
      )
    )
    .orderBy(desc(orders), asc(servers.unreachableSince), asc(servers.id))
    .limit(MOST_FOUND)
  return rows.map(({ server, orders: count }) => {
    const { id, name, ip, unreachableSince: since, trouble: code, troubleParams } = server
    const message = code ? troubleSentence({ code, params: troubleParams ?? {} }) : '–'
    return {
      subject: String(id),
      words: 'server_down',
      params: { server: name, ip, since: since ? iso(since) : '–', message, orders: count },
      since
    }
  })
}

/**
 * Servers that answer and are in trouble. A failure counts only once it has lasted as long as a server may stay silent,
 * because short faults end by themselves. A limit would be filled by rows without a notice, so all are read.
 */
async function findTrouble(db: Executor, deadline: Date): Promise<Found[]> {
  const rows = await db
    .select({ server: servers, report: serverReports.report })
    .from(servers)
    .leftJoin(serverReports, eq(serverReports.serverId, servers.id))
    .where(and(present, isTroubled, eq(servers.connected, true)))
    .orderBy(asc(servers.id))
  return rows.flatMap(({ server, report }) => {
    const { id, name, ip, trouble: code, troubleParams, failingSince, refusedRanges, provisioning } = server
    const told = (what: string, message: string, since: Date | null = null): Found[] => [
      { subject: `${id}:${what}`, words: 'server_trouble', params: { server: name, ip, message }, since }
    ]
    if (failingSince !== null) {
      const message = code ? troubleSentence({ code, params: troubleParams ?? {} }) : '–'
      return failingSince <= deadline ? told('changes_failing', message, failingSince) : []
    }
    if (refusedRanges.length > 0)
      return told(
        'prefixes_refused',
        troubleSentence({ code: 'prefixes_refused', params: { message: refusedRanges.join(', ') } })
      )
    // It lasts minutes, or turns into another trouble.
    if (code === 'prefixes_waiting' || code === 'changes_failing' || code === 'unreachable') return []
    if (code) return told(code, troubleSentence({ code, params: troubleParams ?? {} }))
    if (provisioning?.status === 'failed') return told('installation', provisioning.message)
    const texts: Readonly<Record<string, string>> = agentProblems
    const problems = report?.problems ?? []
    return problems.length > 0 ? told('problems', problems.map(problem => texts[problem] ?? problem).join('; ')) : []
  })
}

/** A notice names at most this many servers. */
const NAMED = 30

/** One notice for all servers: if many fail at once, they share the cause. */
async function findProofs(db: Executor): Promise<Found[]> {
  const rows = await db
    .select({ server: servers.name, ip: servers.ip, count: sql<number>`count(*)::int` })
    .from(accessProofs)
    .innerJoin(servers, eq(servers.id, accessProofs.serverId))
    .where(isOpenProof)
    .groupBy(servers.id)
    .orderBy(asc(servers.name))
  if (rows.length === 0) return []
  const named = rows.slice(0, NAMED).map(({ server, ip, count }) => `${server} (${ip}): ${count}`)
  if (rows.length > NAMED) named.push('…')
  return [
    { subject: '', words: 'proofs', params: { count: rows.length, servers: named.join(', ') }, count: rows.length }
  ]
}
