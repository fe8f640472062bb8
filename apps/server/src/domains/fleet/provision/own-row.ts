// What an installation writes to its server's row, and when it may no longer.
import type { Provisioning } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { SYSTEM } from '../../../infra/actor.ts'
import { command, type Unit } from '../../../infra/command.ts'
import type { SyncContext } from '../agents.ts'
import { certificateOf } from '../certificate.ts'
import { lockServer, type ServerRow } from '../server-row.ts'
import { servers } from '../tables.ts'
import { Cancelled, wasCancelled } from './cancel.ts'
import type { Bundle } from './bundle.ts'
import type { Progress } from './installation.ts'
import type { Reached } from './settings-there.ts'

/**
 * `init`: install the agent. `settings`: write only its settings. Neither: load its ranges. `asApplied`: keep the
 * settings that were applied last. `askedAt`: when it was requested, in ISO 8601.
 */
export type Work = {
  serverId: number
  init: boolean
  ranges: boolean
  settings?: boolean | undefined
  asApplied?: boolean | undefined
  askedAt?: string | undefined
}
export const kindOf = ({ init, settings }: Pick<Work, 'init' | 'settings'>) =>
  init ? 'install' : settings ? 'settings' : 'ranges'

/** The same for the screens. */
export const askedFor = (work: Pick<Work, 'init' | 'settings' | 'asApplied'>) => ({
  run_init: work.init,
  ...(kindOf(work) === 'settings' ? { settings: true } : {}),
  ...(work.asApplied ? { as_applied: true } : {})
})

/** `root`: '' except in tests, as `bundle`, another program. `waitMs`: how long a started agent may take to answer. */
export type InstallTarget = { root: string; username: string; waitMs?: number; bundle?: Bundle }

export type Shown = Omit<Provisioning, 'cancelling'>
/** One installation, identified in the server's row by when it was requested. */
export type Run = { work: Work; begunAt: string }
export type Job = { ctx: SyncContext; own: Run; server: ServerRow; target: InstallTarget; progress: Progress }

/** Makes the row show this installation. Undefined if it was cancelled before it began, or the server is gone. */
export const claim = (ctx: SyncContext, { work }: Run, provisioning: Shown): Promise<ServerRow | undefined> =>
  command(ctx, SYSTEM, async unit => {
    const row = await lockServer(unit, work.serverId)
    if (!row || wasCancelled(work.askedAt, row.provisioningCancelledAt)) return undefined
    await unit.tx.update(servers).set({ provisioning }).where(eq(servers.id, row.id))
    unit.publish('server', row.id)
    return row
  })

const isShown = ({ begunAt }: Run, row: ServerRow): boolean => row.provisioning?.steps[0]?.started_at === begunAt

/**
 * The locked row of the server that is installed.
 * @throws Cancelled if it was cancelled or replaced by another one, or if the server is gone
 */
export async function ownServer(unit: Unit, own: Run): Promise<ServerRow> {
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
export const showUnlessCancelled = (ctx: SyncContext, own: Run, provisioning: Shown): Promise<boolean> =>
  command(ctx, SYSTEM, async unit => {
    const { serverId, askedAt } = own.work
    const row = await lockServer(unit, serverId)
    if (!row || !isShown(own, row)) return false
    if (wasCancelled(askedAt, row.provisioningCancelledAt) && provisioning.status !== 'done') return false
    await unit.tx.update(servers).set({ provisioning }).where(eq(servers.id, serverId))
    unit.publish('server', serverId)
    return true
  })

/** Stores what was learned of the machine in the server's row. */
export const change = ({ ctx, own }: Job, columns: Partial<ServerRow>): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    const { id } = await ownServer(unit, own)
    await unit.tx.update(servers).set(columns).where(eq(servers.id, id))
    unit.publish('server', id)
  })

const told = ({ agentPort, proxyPort, agentCertificate }: ServerRow) => ({
  agent_port: agentPort,
  proxy_port: proxyPort,
  certificate: agentCertificate && certificateOf(agentCertificate)?.fingerprint
})

/**
 * Restores in the row how the previous agent is reached, and its proxy port for customers. This happens even after a
 * cancellation, because that agent runs, but not if the row was edited since.
 */
export const giveRowBack = ({ ctx, own, server }: Job, reached: Reached): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    const row = await lockServer(unit, server.id)
    const isEdited = row?.ip !== server.ip || row.agentPort !== server.agentPort || row.proxyPort !== server.proxyPort
    if (!row || isEdited || !isShown(own, row)) return
    const { agentPort, proxyPort, certificate: agentCertificate, token } = reached
    const hasToken = row.agentToken !== null && ctx.secrets.open(row.agentToken) === token
    const columns = {
      agentPort,
      proxyPort,
      agentCertificate,
      ...(hasToken ? {} : { agentToken: ctx.secrets.seal(token) })
    }
    const [before, after] = [told(row), told({ ...row, ...columns })]
    if (hasToken && JSON.stringify(before) === JSON.stringify(after)) return
    await unit.tx.update(servers).set(columns).where(eq(servers.id, server.id))
    unit.audit('server.agent_restored', server.id, { before, after })
  })
