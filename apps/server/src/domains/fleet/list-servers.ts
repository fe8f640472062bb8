import { fillIn, serverTroubles, type Server } from '@netlet/contract'
import { and, eq, inArray, isNull, sql, ilike, or } from 'drizzle-orm'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { containing } from '../../infra/db/like.ts'
import { addressCount } from '../inventory/index.ts'
import type { ServerRow, Trouble } from './agents.ts'
import { rangesOfServers } from './cidrs.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { versionOf } from '../../infra/version.ts'
import { agentUsers, servers } from './tables.ts'

/** Servers, newest last: found by name, address or description. */
export const serverList = defineList<ListInput<'id'>, Server>({
  name: 'servers',
  table: servers,
  id: servers.id,
  sort: { id: servers.id },
  match(_db, { search }) {
    const pattern = search && containing(search)
    const found = pattern
      ? or(ilike(servers.name, pattern), ilike(sql`host(${servers.ip})`, pattern), ilike(servers.description, pattern))
      : undefined
    return { where: [isNull(servers.deletedAt), found] }
  },
  load: async (db, ids) => present(db, await db.select().from(servers).where(among(servers.id, ids)))
})

export async function readServer(db: Executor, id: number): Promise<Server | undefined> {
  const rows = await db
    .select()
    .from(servers)
    .where(and(eq(servers.id, id), isNull(servers.deletedAt)))
  return (await present(db, rows))[0]
}

async function present(db: Executor, rows: ServerRow[]): Promise<Server[]> {
  if (rows.length === 0) return []
  const ids = rows.map(row => row.id)
  const ranges = await rangesOfServers(db, ids)
  const behind = await db
    .selectDistinct({ id: agentUsers.serverId })
    .from(agentUsers)
    .where(and(inArray(agentUsers.serverId, ids), sql`${agentUsers.generation} <> ${agentUsers.appliedGeneration}`))
  const late = new Set(behind.map(row => row.id))
  return rows.map(row => {
    const cidrs = ranges.get(row.id) ?? []
    const fields = serverFields(
      { ...row, port: row.sshPort, agent_port: row.agentPort, proxy_port: row.proxyPort },
      cidrs.map(range => range.cidr)
    )
    return {
      id: row.id,
      name: row.name,
      ip: row.ip,
      description: row.description,
      server_status: row.connected ? 1 : 0,
      port: row.sshPort,
      has_password: row.sshPassword !== null,
      agent_port: row.agentPort,
      has_certificate: row.agentCertificate !== null,
      proxy_port: row.proxyPort,
      cidrs: cidrs.map(({ id, cidr }) => ({ id, cidr, ip_count: addressCount(cidr), name: cidr })),
      step: stepOf(row, late.has(row.id)),
      unreachable_since: isoOrNull(row.unreachableSince),
      failing_since: isoOrNull(row.failingSince),
      status: row.status,
      sells: row.status === 'active' && !row.offline,
      ...troubleOf(row),
      provisioning: row.provisioning,
      created_at: iso(row.createdAt),
      version: versionOf(fields)
    }
  })
}

type ServerFields = Pick<Server, 'name' | 'ip' | 'description' | 'port'> & {
  agent_port?: number | undefined
  proxy_port?: number | undefined
}

/** What the form of a server shows. Of secrets it shows nothing: those that it leaves empty stay as they are. */
export const serverFields = (
  { name, ip, description, port, agent_port, proxy_port }: ServerFields,
  ranges: readonly string[]
) => ({ name, ip, cidr: ranges.toSorted(), description, port, agent_port, proxy_port })

export const troubleSentence = ({ code, params }: Trouble): string => fillIn(serverTroubles[code], params)

function troubleOf({ trouble: code, troubleParams }: ServerRow): Pick<Server, 'last_error' | 'trouble'> {
  if (!code) return { last_error: null, trouble: null }
  const trouble = { code, params: troubleParams ?? {} }
  return { last_error: troubleSentence(trouble), trouble }
}

/** An agent that holds something nobody wants is as little in step as one that lacks something. */
function stepOf(row: ServerRow, usersBehind: boolean): Server['step'] {
  if (row.unreachableSince !== null || row.failingSince !== null) return 'unreachable'
  const behind = usersBehind || row.prefixesGeneration !== row.prefixesApplied || row.trouble !== null
  return behind ? 'behind' : 'in step'
}
