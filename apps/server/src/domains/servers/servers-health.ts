import { agentProblems, type AgentReport, type Health } from '@netlet/contract'
import { and, asc, eq, isNull, ne, sql } from '../../infra/db/drizzle.ts'
import { isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { ServerRow } from './server-row.ts'
import { isTroubled, troubleSentence } from './list-servers.ts'
import { daysLeft } from './pem.ts'
import { serverReports, servers } from './tables.ts'

/** Certificates shown. Those that end later are on the servers' own screens. */
const SHOWN = 20

/**
 * Which servers answer, and what is wrong with those that do. Together these are the troubled servers of the server
 * list. Servers that were given up are left out.
 */
export async function serversHealth(db: Executor, now: Date): Promise<NonNullable<Health['servers']>> {
  const all = await db
    .select({
      id: servers.id,
      name: servers.name,
      connected: servers.connected,
      since: servers.unreachableSince,
      failingSince: servers.failingSince,
      trouble: servers.trouble,
      troubleParams: servers.troubleParams,
      refusedRanges: servers.refusedRanges,
      provisioning: servers.provisioning,
      report: serverReports.report,
      isTroubled: sql<boolean>`${isTroubled}`
    })
    .from(servers)
    .leftJoin(serverReports, eq(serverReports.serverId, servers.id))
    .where(and(isNull(servers.deletedAt), ne(servers.status, 'given_up')))
    .orderBy(asc(servers.id))
  const unreachable = all.filter(server => !server.connected)
  const troubled = all.filter(server => server.connected && server.isTroubled)
  return {
    total: all.length,
    reachable: all.length - unreachable.length,
    unreachable: unreachable.map(({ id, name, since }) => ({ id, name, since: isoOrNull(since) })),
    troubled: troubled.map(server => ({
      id: server.id,
      name: server.name,
      since: isoOrNull(server.failingSince),
      message: whyOf(server)
    })),
    certificates: all
      .flatMap(({ id, name, report }) => {
        const ends = report?.certificates?.proxy
        return ends ? [{ id, name, ends_at: ends, days_left: daysLeft(ends, now) }] : []
      })
      .toSorted((a, b) => a.days_left - b.days_left)
      .slice(0, SHOWN)
  }
}

type Troubled = Pick<ServerRow, 'trouble' | 'troubleParams' | 'refusedRanges' | 'provisioning' | 'failingSince'> & {
  report: AgentReport | null
}

function whyOf({ trouble: code, troubleParams, refusedRanges, provisioning, failingSince, report }: Troubled): string {
  if (code) return troubleSentence({ code, params: troubleParams ?? {} })
  if (refusedRanges.length > 0)
    return troubleSentence({ code: 'prefixes_refused', params: { message: refusedRanges.join(', ') } })
  if (provisioning?.status === 'failed') return `The last installation failed: ${provisioning.message}`
  const problems = report?.problems ?? []
  if (failingSince !== null || problems.length === 0) return 'What is sent to the agent fails'
  const texts: Readonly<Record<string, string>> = agentProblems
  return problems.map(problem => texts[problem] ?? problem).join('; ')
}
