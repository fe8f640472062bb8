import { refuse, type Server, type ServerForm } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { transact } from '../../infra/db/transact.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import { assignCidrs } from '../inventory/index.ts'
import type { ServerRow } from './agents.ts'
import { byHandOutside } from './by-hand.ts'
import { followOn, renewPrefixes } from './desired.ts'
import { readServer } from './list-servers.ts'
import { provisionQueue, repairQueue } from './queues.ts'
import { cidrRefusal, withUniqueName } from './refusals.ts'
import { servers } from './tables.ts'

type Saving = Pick<AppContext, 'db' | 'jobs' | 'secrets' | 'now'>
/** Adds a server with its ranges; the agent is installed where the form asks for it. */
export async function createServer(ctx: Saving, actor: Actor, form: ServerForm): Promise<Result<Server>> {
  return withUniqueName('servers_name_key', () =>
    transact(ctx.db, async tx => {
      const [row] = await tx.insert(servers).values(columnsOf(ctx, form)).returning()
      if (!row) throw new Error('the server was not created')
      const assigned = await assignCidrs(tx, row.id, linesOf(form.cidr))
      if (!assigned.ok) return cidrRefusal(tx, assigned)
      await followOn(tx, ctx.jobs, [row.id])
      await askProvisioning(tx, ctx, row.id, form)
      const after = await presented(tx, row.id)
      await record(tx, actor, { action: 'create server', targetType: 'server', targetId: row.id, after })
      return ok(after)
    })
  )
}

/** Edits a server. Its ranges become exactly those of the form; what is leased of a range keeps it where it is. */
export async function updateServer(ctx: Saving, actor: Actor, id: number, form: ServerForm): Promise<Result<Server>> {
  return withUniqueName('servers_name_key', () =>
    transact(ctx.db, async tx => {
      const [row] = await tx
        .select()
        .from(servers)
        .where(and(eq(servers.id, id), isNull(servers.deletedAt)))
        // Deliveries refer to the row while they hold the inventory, for which this is about to wait.
        .for('no key update')
      if (!row) return refuse('not_found')
      const before = await presented(tx, id)
      const columns = columnsOf(ctx, form)
      const elsewhere = form.ip !== row.ip || form.port !== row.sshPort
      const hostKey = elsewhere || form.forget_host_key ? { sshHostKey: null } : {}
      await tx
        .update(servers)
        .set({ ...columns, ...hostKey })
        .where(eq(servers.id, id))
      const assigned = await assignCidrs(tx, id, linesOf(form.cidr))
      if (!assigned.ok) return cidrRefusal(tx, assigned)
      const [stranded] = await byHandOutside(tx, id)
      if (stranded) {
        const msg = `The proxy user ${stranded}, made by hand, still uses addresses of a range left out. Delete it first.`
        return refuse('cidr_has_leases', { msg, data: { errors: { cidr: msg } } })
      }
      if (assigned.added.length + assigned.removed.length > 0) await renewPrefixes(tx, ctx.jobs, id)
      if (anotherAgent(row, columns, form)) await meetAnew(tx, ctx, id)
      await askProvisioning(tx, ctx, id, form)
      const after = await presented(tx, id)
      await record(tx, actor, { action: 'edit server', targetType: 'server', targetId: id, before, after })
      return ok(after)
    })
  )
}

/** One range a line; commas and blanks part them as well. */
export const linesOf = (text: string): string[] => text.split(/[\s,;]+/).filter(line => line !== '')

function columnsOf(ctx: Saving, form: ServerForm) {
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

function anotherAgent(row: ServerRow, columns: ReturnType<typeof columnsOf>, form: ServerForm): boolean {
  return (
    form.ip !== row.ip ||
    form.agent_token !== '' ||
    (columns.agentPort ?? row.agentPort) !== row.agentPort ||
    (columns.agentCertificate === undefined ? row.agentCertificate : columns.agentCertificate) !== row.agentCertificate
  )
}

/** What answers there may be another agent, or one that holds something else: it is compared as a whole. */
async function meetAnew(tx: Executor, ctx: Saving, id: number): Promise<void> {
  await followOn(tx, ctx.jobs, [id])
  await ctx.jobs.send(tx, repairQueue, { serverId: id }, { key: String(id) })
}

async function askProvisioning(tx: Executor, ctx: Saving, serverId: number, form: ServerForm): Promise<void> {
  if (!form.run_init && !form.update_cidr) return
  const at = iso(ctx.now())
  await tx
    .update(servers)
    .set({ provisioning: { status: 'running', step: 'waiting', message: 'Waits for a worker', at } })
    .where(eq(servers.id, serverId))
  const work = { serverId, init: form.run_init, ranges: form.update_cidr }
  // Another key for another piece of work: one that waits already must not swallow it.
  await ctx.jobs.send(tx, provisionQueue, work, { key: `${serverId}:${form.run_init}` })
}

async function presented(tx: Executor, id: number): Promise<Server> {
  const server = await readServer(tx, id)
  if (!server) throw new Error('the server is gone within its own transaction')
  return server
}
