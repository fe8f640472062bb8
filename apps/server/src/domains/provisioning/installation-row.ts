// What an installation writes to its server's row, and when it may no longer.
import {
  recordInstallation,
  type SyncContext,
  certificateOf,
  lockServer,
  type ServerRow,
  type Work
} from '../servers/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { Cancelled, wasCancelled } from './cancel.ts'
import type { Bundle } from '../../integrations/agent/index.ts'
import type { Progress } from './installation-types.ts'
import type { AgentConnection } from './machine-settings.ts'
import type { ShownProvisioning } from './steps-log.ts'

/** `root`: '' except in tests, as `bundle`, another program. `waitMs`: how long a started agent may take to answer. */
export type InstallTarget = { root: string; username: string; waitMs?: number; bundle?: Bundle }

/** One installation, identified in the server's row by when it was requested. */
export type Run = { work: Work; begunAt: string }
export type Job = { ctx: SyncContext; own: Run; server: ServerRow; target: InstallTarget; progress: Progress }

/** Makes the row show this installation. Undefined if it was cancelled before it began, or the server is gone. */
export const claimRow = (
  ctx: SyncContext,
  { work }: Run,
  provisioning: ShownProvisioning
): Promise<ServerRow | undefined> =>
  command(ctx, SYSTEM, async unit => {
    const row = await lockServer(unit, work.serverId)
    if (!row || wasCancelled(work.askedAt, row.provisioningCancelledAt)) return undefined
    await recordInstallation(unit, row.id, { provisioning })
    unit.publish('server', row.id)
    return row
  })

const isShown = ({ begunAt }: Run, row: ServerRow): boolean => row.provisioning?.steps[0]?.started_at === begunAt

/**
 * The locked row of the server that is installed.
 * @throws Cancelled if it was cancelled or replaced by another one, or if the server is gone
 */
export async function lockOwnServer(unit: Unit, own: Run): Promise<ServerRow> {
  const { serverId, askedAt } = own.work
  const row = await lockServer(unit, serverId)
  if (!row || !isShown(own, row) || wasCancelled(askedAt, row.provisioningCancelledAt)) throw new Cancelled()
  return row
}

/**
 * Shows how far an installation is. A cancelled one is not shown, because another one may have been requested since,
 * unless it has already done everything.
 * @returns whether it is shown
 */
export const showUnlessCancelled = (ctx: SyncContext, own: Run, provisioning: ShownProvisioning): Promise<boolean> =>
  command(ctx, SYSTEM, async unit => {
    const { serverId, askedAt } = own.work
    const row = await lockServer(unit, serverId)
    if (!row || !isShown(own, row)) return false
    if (wasCancelled(askedAt, row.provisioningCancelledAt) && provisioning.status !== 'done') return false
    await recordInstallation(unit, serverId, { provisioning })
    unit.publish('server', serverId)
    return true
  })

/** Stores what was learned of the machine in the server's row. */
export const recordLearned = ({ ctx, own }: Job, columns: Parameters<typeof recordInstallation>[2]): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    const { id } = await lockOwnServer(unit, own)
    await recordInstallation(unit, id, columns)
    unit.publish('server', id)
  })

const connectionOf = ({ agentPort, proxyPort, agentCertificate }: ServerRow) => ({
  agent_port: agentPort,
  proxy_port: proxyPort,
  certificate: agentCertificate && certificateOf(agentCertificate)?.fingerprint
})

/**
 * Restores in the row how the previous agent is reached, and its proxy port for customers. This happens even after a
 * cancellation, because that agent runs, but not if the row was edited since.
 */
export const restoreRow = ({ ctx, own, server }: Job, connection: AgentConnection): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    const row = await lockServer(unit, server.id)
    if (!row || !isShown(own, row)) return
    if (row.ip !== server.ip || row.agentPort !== server.agentPort || row.proxyPort !== server.proxyPort) return
    const { agentPort, proxyPort, certificate: agentCertificate, token } = connection
    const hasToken = row.agentToken !== null && ctx.secrets.open(row.agentToken) === token
    const columns = {
      agentPort,
      proxyPort,
      agentCertificate,
      ...(hasToken ? {} : { agentToken: ctx.secrets.seal(token) })
    }
    const [before, after] = [connectionOf(row), connectionOf({ ...row, ...columns })]
    if (hasToken && JSON.stringify(before) === JSON.stringify(after)) return
    await recordInstallation(unit, server.id, columns)
    unit.audit('server.agent_restored', server.id, { before, after })
  })
