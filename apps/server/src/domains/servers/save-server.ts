import {
  type ProvisionForm,
  type Refusal,
  type Server,
  type ServerEditPlan,
  type ServerForm,
  refusals,
  refuse
} from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { type Unit, command, dryRun } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, isNotNull, or, sql } from '../../infra/db/drizzle.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { type Edit, staleEdit } from '../../infra/version.ts'
import { fingerprintOf } from '../../integrations/ssh/index.ts'
import { assignCidrs, leasedBy, lockInventory, ordersOnServer } from '../inventory/index.ts'
import { enqueueConverge, enqueueFullSync, renewPrefixes, usersOutsideRanges } from './desired/desired-users.ts'
import { isInstalling, isUnderWay, requestProvisioning } from './installations.ts'
import { readServer, serverFields } from './list-servers.ts'
import { isCertificates } from './pem.ts'
import { agentTaken, cidrRefusal, nameTaken } from './form-refusals.ts'
import { type ServerRow, auditedServer, lockServer, secretsOf } from './server-row.ts'
import { groupsOfServer, stockAfter, stockChanges, stockOfGroups, stockOfRanges } from './groups.ts'
import { agentUsers, serverGroupServers, servers } from './tables.ts'

const unique = { servers_name_key: nameTaken }

/** Adds a server with its ranges, and installs its agent if the form asks for it. */
export const createServer = (ctx: AppContext, by: Actor, form: ServerForm): Promise<Result<Server>> =>
  command(ctx, by, { unique }, async unit => {
    if (!isReadable(form.agent_certificate)) return fieldRefusal('agent_certificate', 'certificate_unreadable')
    const [row] = await unit.tx
      .insert(servers)
      .values({ ...columnsOf(ctx, form), createdAt: unit.now })
      .returning()
    if (!row) throw new Error('the server was not created')
    const assigned = await assignCidrs(unit, row.id, linesOf(form.cidr))
    if (!assigned.ok) return cidrRefusal(unit.tx, assigned)
    const taken = await agentTaken(unit.tx, row)
    if (taken) return taken
    enqueueConverge(unit, [row.id])
    await requestProvisioning(unit, row, form)
    const after = await presented(unit.tx, row.id)
    unit.audit('server.create', row.id, { after: { ...auditedServer(after), ...secretsOf(form) } })
    unit.publish('cidr')
    return ok(after)
  })

/** Edits a server. Its ranges become exactly those of the form. A range with leases cannot be removed. */
export const updateServer = (ctx: AppContext, by: Actor, id: number, form: Edit<ServerForm>): Promise<Result<Server>> =>
  command(ctx, by, { unique }, async unit => {
    const saved = await saveServer(unit, ctx, id, form)
    if (!saved.ok) return saved
    const { before, after } = saved.data
    unit.audit('server.edit', id, {
      before: auditedServer(before),
      after: { ...auditedServer(after), ...secretsOf(form) }
    })
    return ok(after)
  })

/**
 * What saving the form would do to the server's ranges and to stock. Nothing changes. Stock is counted before and after
 * the dry run, because the dry run holds the lock that leasing needs.
 */
export async function planEdit(
  ctx: AppContext,
  by: Actor,
  id: number,
  form: Edit<ServerForm>
): Promise<Result<ServerEditPlan>> {
  const { db } = ctx
  const before = await stockOfGroups(db, await groupsOfServer(db, id))
  // Wrong input is refused as a save would refuse it.
  const saved = await dryRun(ctx, by, { unique }, unit => saveServer(unit, ctx, id, form))
  if (!saved.ok) return saved
  const { row, added, removed, agent } = saved.data
  const [from, to] = [saved.data.before.proxy_port, saved.data.after.proxy_port]
  const port = { from, to, orders: saved.data.before.orders, installs: form.run_init }
  const [come, gone] = [await stockOfRanges(db, row, added), await stockOfRanges(db, row, removed)]
  const after = stockAfter(before, { come: [come], gone: [gone] })
  return ok({ added, removed, agent, proxy_port: from === to ? null : port, stock: stockChanges(before, after) })
}

type Saved = { row: ServerRow; before: Server; after: Server; added: string[]; removed: string[]; agent: boolean }

async function saveServer(
  unit: Unit,
  ctx: AppContext,
  id: number,
  { version, ...form }: Edit<ServerForm>
): Promise<Result<Saved>> {
  const { tx } = unit
  if (!isReadable(form.agent_certificate)) return fieldRefusal('agent_certificate', 'certificate_unreadable')
  const row = await lockServer(unit, id)
  if (!row) return refuse('not_found')
  // The ranges are part of the form, and change only under this lock.
  await lockInventory(tx)
  const before = await presented(tx, id)
  const now = serverFields(
    before,
    before.cidrs.map(range => range.cidr)
  )
  const stale = staleEdit(version, before, { now, sent: serverFields(form, linesOf(form.cidr)) })
  if (stale) return stale
  const columns = columnsOf(ctx, form, row)
  const installing = installedWith(row, columns, form)
  if (installing) return installing
  const again = secretsAgain(row, columns)
  if (again) return again
  const moved = { id, ip: columns.ip, agentPort: columns.agentPort ?? row.agentPort }
  const taken = moved.ip === row.ip && moved.agentPort === row.agentPort ? null : await agentTaken(tx, moved)
  if (taken) return taken
  await tx.update(servers).set(columns).where(eq(servers.id, id))
  const assigned = await assignCidrs(unit, id, linesOf(form.cidr))
  if (!assigned.ok) return cidrRefusal(tx, assigned)
  const [username] = await usersOutsideRanges(tx, id)
  if (username !== undefined) return fieldRefusal('cidr', 'hand_made_user', { username })
  if (assigned.added.length + assigned.removed.length > 0) {
    await renewPrefixes(unit, id)
    unit.publish('cidr')
  }
  const agent = isOtherAgent(row, columns, form)
  if (agent) enqueueFullSync(unit, id)
  await requestProvisioning(unit, row, form)
  const after = await presented(tx, id)
  return ok({ row, before, after, added: assigned.added, removed: assigned.removed, agent })
}

/** One range a line; commas, semicolons and blanks separate them too. */
export const linesOf = (text: string): string[] => text.split(/[\s,;]+/).filter(line => line !== '')

/** Otherwise the first call to the agent would fail. It also keeps private keys out of the database. */
const isReadable = (pem: string | null | undefined): boolean => !pem || isCertificates(pem)

function columnsOf(ctx: Pick<AppContext, 'secrets'>, form: ServerForm, row?: ServerRow) {
  const certificate = form.forget_certificate ? null : form.agent_certificate
  return {
    name: form.name,
    ip: form.ip,
    description: form.description,
    sshPort: form.port,
    ...hostKeyOf(form, row),
    ...(form.password === '' ? {} : { sshPassword: ctx.secrets.seal(form.password) }),
    ...(form.agent_port === undefined ? {} : { agentPort: form.agent_port }),
    ...(form.agent_token === '' ? {} : { agentToken: ctx.secrets.seal(form.agent_token) }),
    ...(certificate === undefined ? {} : { agentCertificate: certificate || null }),
    ...(form.proxy_port === undefined ? {} : { proxyPort: form.proxy_port })
  }
}

/** A known host key stays valid at another address, unless the form gives another key. */
function hostKeyOf({ host_key: given }: ServerForm, row?: ServerRow) {
  if (given === '' || (row?.sshHostKey && fingerprintOf(row.sshHostKey) === given)) return {}
  return { sshHostKey: null, sshHostKeyRefused: null, sshFingerprint: given }
}

/** Accepts the host key that the machine showed last, if it is the one that the operator saw. */
export const acceptHostKey = (ctx: AppContext, by: Actor, id: number, fingerprint: string): Promise<Result<Server>> =>
  command(ctx, by, async unit => {
    const row = await lockServer(unit, id)
    if (!row) return refuse('not_found')
    if (isInstalling(row)) return refuse('server_installing')
    const refused = row.sshHostKeyRefused
    if (refused === null || fingerprintOf(refused) !== fingerprint) return refuse('stale')
    const accepted = { sshHostKey: refused, sshHostKeyRefused: null, sshFingerprint: null }
    await unit.tx.update(servers).set(accepted).where(eq(servers.id, id))
    const before = row.sshHostKey ? fingerprintOf(row.sshHostKey) : row.sshFingerprint
    unit.audit('server.accept_host_key', id, { before: { fingerprint: before }, after: { fingerprint } })
    return ok(await presented(unit.tx, id))
  })

/**
 * A stored secret is sent only to the address that it was entered for. Otherwise anyone who may edit a server could
 * have it sent to a machine of their own.
 */
function secretsAgain(row: ServerRow, columns: ReturnType<typeof columnsOf>): Refusal | null {
  const moved = columns.ip !== row.ip
  const sshMoved = moved || columns.sshPort !== row.sshPort
  const agentMoved = moved || (columns.agentPort ?? row.agentPort) !== row.agentPort
  const fields = [
    ...(sshMoved && row.sshPassword && !columns.sshPassword ? ['password'] : []),
    ...(agentMoved && row.agentToken && !columns.agentToken ? ['agent_token'] : [])
  ]
  if (fields.length === 0) return null
  const errors = Object.fromEntries(fields.map(field => [field, refusals.secret_of_address[1]]))
  return refuse('secret_of_address', { data: { errors } })
}

/**
 * Refuses changes to what a running installation works with, because it would write the identity of one machine to the
 * row of another. The form always sends the ports, so only real changes count.
 */
function installedWith(row: ServerRow, columns: ReturnType<typeof columnsOf>, form: ServerForm): Refusal | null {
  if (!isInstalling(row)) return null
  const { agentPort = row.agentPort, proxyPort = row.proxyPort, agentCertificate = row.agentCertificate } = columns
  const changed = {
    ip: form.ip !== row.ip,
    port: form.port !== row.sshPort,
    password: form.password !== '',
    agent_port: agentPort !== row.agentPort,
    agent_token: form.agent_token !== '',
    agent_certificate: !form.forget_certificate && agentCertificate !== row.agentCertificate,
    forget_certificate: form.forget_certificate && row.agentCertificate !== null,
    proxy_port: proxyPort !== row.proxyPort,
    host_key: columns.sshFingerprint !== undefined
  }
  const said = refusals.server_installing[1]
  const errors = Object.entries(changed).flatMap(([field, isChanged]) => (isChanged ? [[field, said] as const] : []))
  return errors.length > 0 ? refuse('server_installing', { data: { errors: Object.fromEntries(errors) } }) : null
}

function isOtherAgent(row: ServerRow, columns: ReturnType<typeof columnsOf>, form: ServerForm): boolean {
  return (
    form.ip !== row.ip ||
    form.agent_token !== '' ||
    (columns.agentPort ?? row.agentPort) !== row.agentPort ||
    (columns.agentCertificate === undefined ? row.agentCertificate : columns.agentCertificate) !== row.agentCertificate
  )
}

/** Installs the agent, or loads the ranges, with what is stored. It also retries a failed installation. */
export const provision = (ctx: AppContext, by: Actor, id: number, form: ProvisionForm): Promise<Result<Server>> =>
  command(ctx, by, async unit => {
    const row = await lockServer(unit, id)
    if (!row) return refuse('not_found')
    // A second request of the same kind is ignored, because it would discard the first one's log.
    if (!isUnderWay(row, unit.now) || !isTheSame(row, form)) {
      await requestProvisioning(unit, row, form)
      unit.audit('server.provision', id, { after: form })
    }
    return ok(await presented(unit.tx, id))
  })

/** Whether the running installation does what the form asks. That of an upgrade does not apply saved settings. */
const isTheSame = ({ provisioning: last }: ServerRow, form: ProvisionForm): boolean =>
  last?.run_init === form.run_init && !last.as_applied && !last.settings

async function presented(tx: Executor, id: number): Promise<Server> {
  const server = await readServer(tx, id)
  if (!server) throw new Error('the server is gone within its own transaction')
  return server
}

/**
 * Removes a server. Its ranges become free for another one; its row stays for the history. Refused while orders hold
 * addresses on it, users are wanted there, or its agent is being installed.
 */
export const deleteServer = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, unit => removeServer(unit, id))

/** The same as part of another command, or of a plan. */
export async function removeServer(unit: Unit, id: number): Promise<Result<null>> {
  const { tx } = unit
  const row = await lockServer(unit, id)
  if (!row) return refuse('not_found')
  // Otherwise the installation would start an agent on a machine that the console no longer knows.
  if (isInstalling(row)) return refuse('server_installing')
  const before = await readServer(tx, id)
  // Before the check for leases, so that none can begin after it.
  const freed = await assignCidrs(unit, id, [])
  if (!freed.ok && freed.reason !== 'leased') return cidrRefusal(tx, freed)
  const orders = await ordersOnServer(tx, id)
  if (orders.length > 0) return leasedBy('server', orders)
  const users = await tx
    .select({ username: agentUsers.username })
    .from(agentUsers)
    .where(and(eq(agentUsers.serverId, id), or(eq(agentUsers.wanted, true), isNotNull(agentUsers.orderId))))
    .limit(1)
  if (users[0]) return refuse('hand_made_user', { params: { username: users[0].username } })
  await tx.delete(agentUsers).where(eq(agentUsers.serverId, id))
  await tx.delete(serverGroupServers).where(eq(serverGroupServers.serverId, id))
  await tx
    .update(servers)
    .set({
      deletedAt: unit.now,
      connected: false,
      sshPassword: sql`null`,
      agentToken: sql`null`,
      // It contains the proxy's private key.
      agentSettings: sql`${servers.agentSettings} - 'proxy_tls'`
    })
    .where(eq(servers.id, id))
  unit.audit('server.delete', id, { before: before && auditedServer(before) })
  unit.publish('cidr')
  return done
}
