import { agentProblems, type AgentReport, type Health, routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import { rangeEffect } from '../inventory/index.ts'
import { cidrBlocks, cidrList, cleanUnusedCidrs, editCidr, planCleaning } from './cidrs.ts'
import { acceptHostKey, createServer, deleteServer, planEdit, provision, updateServer } from './save-server.ts'
import { proposeGeofeed, savePlaces } from './geofeed/propose.ts'
import { createGroup, deleteGroup, groupList, planGroup, updateGroup, type VariantsSellingFrom } from './groups.ts'
import { findServer, isTroubled, serverList, serverNameList, troubleSentence } from './list-servers.ts'
import { addOutage, outageList } from './outages.ts'
import { pauseServer, resumeServer, takeBackServer } from './server-status.ts'
import { and, asc, eq, isNull, ne, sql } from '../../infra/db/drizzle.ts'
import { isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { ServerRow } from './server-row.ts'
import { daysLeft } from './pem.ts'
import { serverReports, servers } from './tables.ts'

export type ServerPorts = { variantsSellingFrom: VariantsSellingFrom }

/** The routes of servers and groups, and those of address ranges, because their lists name servers. */
export function serverRoutes(mount: Mount, ctx: AppContext, { variantsSellingFrom }: ServerPorts): void {
  const { fleet, inventory } = routes
  mountList(mount, ctx, fleet.servers, () => serverList)
  mountList(mount, ctx, fleet.serverNames, () => serverNameList)
  mount(fleet.server, call => findServer(ctx.db, call.params.id))
  mount(fleet.createServer, call => createServer(ctx, call.caller, call.body))
  mount(fleet.updateServer, call => updateServer(ctx, call.caller, call.params.id, call.body))
  mount(fleet.planEdit, call => planEdit(ctx, call.caller, call.params.id, call.body))
  mount(fleet.provision, call => provision(ctx, call.caller, call.params.id, call.body))
  mount(fleet.acceptHostKey, call => acceptHostKey(ctx, call.caller, call.params.id, call.body.fingerprint))
  mount(fleet.deleteServer, call => deleteServer(ctx, call.caller, call.params.id))
  mount(fleet.pause, call => pauseServer(ctx, call.caller, call.params.id, call.body))
  mount(fleet.resume, call => resumeServer(ctx, call.caller, call.params.id, call.body))
  mount(fleet.takeBack, call => takeBackServer(ctx, call.caller, call.params.id))
  mountList(mount, ctx, fleet.outages, ({ params }) => outageList(params.id))
  mount(fleet.addOutage, call => addOutage(ctx, call.caller, call.params.id, call.body))
  mountList(mount, ctx, fleet.groups, () => groupList)
  mount(fleet.createGroup, call => createGroup(ctx, call.caller, call.body))
  mount(fleet.updateGroup, call => updateGroup(ctx, call.caller, call.params.id, call.body))
  mount(fleet.planGroup, call => planGroup(ctx, call.params.id, call.body, variantsSellingFrom))
  mount(fleet.deleteGroup, call => deleteGroup(ctx, call.caller, call.params.id, variantsSellingFrom))
  mountList(mount, ctx, inventory.cidrs, () => cidrList)
  mount(inventory.updateCidr, call => editCidr(ctx, call.caller, call.params.id, call.body))
  mount(inventory.cidrBlocks, call => cidrBlocks(ctx, call.params.id, call.query))
  mount(inventory.cidrEffect, call => rangeEffect(ctx, call.params.id, call.body.exclude_acl))
  mount(inventory.unusedCidrs, call => planCleaning(ctx.db, { ofRemovedServers: call.query.include_soft_deleted }))
  mount(inventory.cleanUnusedCidrs, call =>
    cleanUnusedCidrs(ctx, call.caller, {
      ofRemovedServers: call.body?.include_soft_deleted ?? false,
      plan: call.body?.plan
    })
  )
  mount(fleet.geofeedProposal, async () => ok(await proposeGeofeed(ctx)))
  mount(fleet.savePlaces, call => savePlaces(ctx, call.caller, call.body.places))
}

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
  if (failingSince !== null || problems.length === 0) return 'The agent does not accept changes'
  const texts: Readonly<Record<string, string>> = agentProblems
  return problems.map(problem => texts[problem] ?? problem).join('; ')
}
