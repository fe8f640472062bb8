import { refuse, type Server, type ServerForm } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { staleEdit, type Edit } from '../../infra/version.ts'
import type { AppContext } from '../../infra/context.ts'
import { assignCidrs, lockInventory } from '../inventory/index.ts'
import type { ServerRow } from './agents.ts'
import { usersOutsideRanges } from './by-hand.ts'
import { bumpPrefixes, enqueueConverge, enqueueFullSync } from './desired.ts'
import { readServer, serverFields } from './list-servers.ts'
import { provisionQueue } from './queues.ts'
import { cidrRefusal, nameTaken } from './refusals.ts'
import { servers } from './tables.ts'

const unique = { servers_name_key: nameTaken }

/** Adds a server with its ranges; the agent is installed where the form asks for it. */
export const createServer = (ctx: AppContext, by: Actor, form: ServerForm): Promise<Result<Server>> =>
  command(ctx, by, { unique }, async unit => {
    const [row] = await unit.tx.insert(servers).values(columnsOf(ctx, form)).returning()
    if (!row) throw new Error('the server was not created')
    const assigned = await assignCidrs(unit, row.id, linesOf(form.cidr))
    if (!assigned.ok) return cidrRefusal(unit.tx, assigned)
    enqueueConverge(unit, [row.id])
    await requestProvisioning(unit, row.id, form)
    const after = await presented(unit.tx, row.id)
    unit.audit('server.create', row.id, { after })
    unit.publish('cidr')
    return ok(after)
  })

/** Edits a server. Its ranges become exactly those of the form; what is leased of a range keeps it where it is. */
export const updateServer = (
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<ServerForm>
): Promise<Result<Server>> =>
  command(ctx, by, { unique }, async unit => {
    const { tx } = unit
    const [row] = await tx
      .select()
      .from(servers)
      .where(and(eq(servers.id, id), isNull(servers.deletedAt)))
      // Deliveries refer to the row while they hold the inventory, for which this is about to wait.
      .for('no key update')
    if (!row) return refuse('not_found')
    // Its ranges are part of the form, and change under this lock.
    await lockInventory(tx)
    const before = await presented(tx, id)
    const now = serverFields(
      before,
      before.cidrs.map(range => range.cidr)
    )
    const stale = staleEdit(version, before, { now, sent: serverFields(form, linesOf(form.cidr)) })
    if (stale) return stale
    const columns = columnsOf(ctx, form)
    const elsewhere = form.ip !== row.ip || form.port !== row.sshPort
    const hostKey = elsewhere || form.forget_host_key ? { sshHostKey: null } : {}
    await tx
      .update(servers)
      .set({ ...columns, ...hostKey })
      .where(eq(servers.id, id))
    const assigned = await assignCidrs(unit, id, linesOf(form.cidr))
    if (!assigned.ok) return cidrRefusal(tx, assigned)
    const [username] = await usersOutsideRanges(tx, id)
    if (username !== undefined) return fieldRefusal('cidr', 'cidr_has_user', { username })
    if (assigned.added.length + assigned.removed.length > 0) {
      await bumpPrefixes(unit, id)
      unit.publish('cidr')
    }
    if (isOtherAgent(row, columns, form)) enqueueFullSync(unit, id)
    await requestProvisioning(unit, id, form)
    const after = await presented(tx, id)
    unit.audit('server.edit', id, { before, after })
    return ok(after)
  })

/** One range a line; commas and blanks part them as well. */
export const linesOf = (text: string): string[] => text.split(/[\s,;]+/).filter(line => line !== '')

function columnsOf(ctx: Pick<AppContext, 'secrets'>, form: ServerForm) {
  const certificate = form.agent_certificate
  return {
    name: form.name,
    ip: form.ip,
    description: form.description,
    sshPort: form.port,
    ...(form.password === '' ? {} : { sshPassword: ctx.secrets.seal(form.password) }),
    ...(form.agent_port === undefined ? {} : { agentPort: form.agent_port }),
    ...(form.agent_token === '' ? {} : { agentToken: ctx.secrets.seal(form.agent_token) }),
    ...(certificate === undefined ? {} : { agentCertificate: certificate || null }),
    ...(form.proxy_port === undefined ? {} : { proxyPort: form.proxy_port })
  }
}

function isOtherAgent(row: ServerRow, columns: ReturnType<typeof columnsOf>, form: ServerForm): boolean {
  return (
    form.ip !== row.ip ||
    form.agent_token !== '' ||
    (columns.agentPort ?? row.agentPort) !== row.agentPort ||
    (columns.agentCertificate === undefined ? row.agentCertificate : columns.agentCertificate) !== row.agentCertificate
  )
}

async function requestProvisioning(unit: Unit, serverId: number, form: ServerForm): Promise<void> {
  if (!form.run_init && !form.update_cidr) return
  await unit.tx
    .update(servers)
    .set({ provisioning: { status: 'running', step: 'waiting', message: 'Waiting for a worker', at: iso(unit.now) } })
    .where(eq(servers.id, serverId))
  const work = { serverId, init: form.run_init, ranges: form.update_cidr }
  // Another key for another piece of work: one that waits already must not swallow it.
  unit.jobs.send(provisionQueue, work, { key: `${serverId}:${form.run_init}` })
}

async function presented(tx: Executor, id: number): Promise<Server> {
  const server = await readServer(tx, id)
  if (!server) throw new Error('the server is gone within its own transaction')
  return server
}
