import { job, type Job } from '../../infra/job.ts'
import { renewDenyLists } from './desired/desired-users.ts'
import { renewOrderLimits } from './desired/order-limits.ts'
import { denyListsQueue, limitsQueue } from './queues.ts'
import { agentProblems } from '@netlet/contract'
import { and, asc, desc, eq, gte, isNotNull, isNull, sql } from '../../infra/db/drizzle.ts'
import { iso, MINUTE } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type Found, MOST_FOUND, type NoticeFinder } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'
import { ALARM_AFTER } from './agent-health.ts'
import { isServedOrder, isTroubled, troubleSentence } from './list-servers.ts'
import { agentUsers, serverReports, servers } from './tables.ts'

export const serverJobs: Job[] = [
  job(limitsQueue, {
    purpose: "Sends an order's new limits to its agents after a renewal or a refund of one.",
    importance: 'urgent',
    run: (ctx, { orderId }) => renewOrderLimits(ctx, orderId)
  }),
  job(denyListsQueue, {
    purpose: 'Sends every agent its deny lists after a change to access rules.',
    run: renewDenyLists
  })
]

const present = isNull(servers.deletedAt)

/** Finds servers that are away, and those that are in trouble. */
export const serverFinders: NoticeFinder[] = [
  { cause: 'server_down', every: 1, find: ({ db }) => findDown(db) },
  {
    cause: 'server_trouble',
    every: 1,
    async find({ db, secrets }, { now }) {
      const { unreachable_after: minutes } = await readSettings(db, secrets)
      return findTrouble(db, new Date(now.getTime() - minutes * MINUTE))
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
    const findings = (what: string, message: string, since: Date | null = null): Found[] => [
      { subject: `${id}:${what}`, words: 'server_trouble', params: { server: name, ip, message }, since }
    ]
    if (failingSince !== null) {
      const message = code ? troubleSentence({ code, params: troubleParams ?? {} }) : '–'
      return failingSince <= deadline ? findings('changes_failing', message, failingSince) : []
    }
    if (refusedRanges.length > 0)
      return findings(
        'prefixes_refused',
        troubleSentence({ code: 'prefixes_refused', params: { message: refusedRanges.join(', ') } })
      )
    // It lasts minutes, or turns into another trouble.
    if (code === 'prefixes_waiting' || code === 'changes_failing' || code === 'unreachable') return []
    if (code) return findings(code, troubleSentence({ code, params: troubleParams ?? {} }))
    if (provisioning?.status === 'failed') return findings('installation', provisioning.message)
    const texts: Readonly<Record<string, string>> = agentProblems
    const problems = report?.problems ?? []
    return problems.length > 0
      ? findings('problems', problems.map(problem => texts[problem] ?? problem).join('; '))
      : []
  })
}
