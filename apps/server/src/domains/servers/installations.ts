import { eq } from '../../infra/db/drizzle.ts'
import { iso, MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { provisionQueue } from './queues.ts'
import type { ServerRow } from './server-row.ts'
import { servers } from './tables.ts'
import type { Provisioning } from '@netlet/contract'

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

/** What is asked for, as the screens show it. */
export const requestedWork = (work: Pick<Work, 'init' | 'settings' | 'asApplied'>) => ({
  run_init: work.init,
  ...(kindOf(work) === 'settings' ? { settings: true } : {}),
  ...(work.asApplied ? { as_applied: true } : {})
})

/** Whether an installation still runs although it was cancelled after it was requested. */
export const isCancelling = (
  { status, steps, at }: Omit<Provisioning, 'cancelling'>,
  cancelledAt: Date | null
): boolean =>
  status === 'running' && cancelledAt !== null && Date.parse(steps[0]?.started_at ?? at) <= cancelledAt.getTime()

/** Whether an installation runs or waits to run. A cancelled one no longer writes to the server's row. */
export const isInstalling = ({
  provisioning: last,
  provisioningCancelledAt: cancelled
}: Pick<ServerRow, 'provisioning' | 'provisioningCancelledAt'>): boolean =>
  last?.status === 'running' && !isCancelling(last, cancelled)

/** A provisioning that shows no step for this long has died with its process. */
const STUCK_MS = 20 * MINUTE

/** Whether it seems to work or wait for a worker. This includes a cancelled one whose worker has not confirmed yet. */
export function isAlive({ provisioning: last }: Pick<ServerRow, 'provisioning'>, now: Date): boolean {
  if (last?.status !== 'running') return false
  // A step in the far future was written by a clock that ran ahead. It must not count as alive until then.
  return Math.abs(now.getTime() - Date.parse(last.at)) < STUCK_MS
}

/** A cancelled one is over, even if its worker does not know yet. */
export const isUnderWay = (row: ServerRow, now: Date): boolean => isInstalling(row) && isAlive(row, now)

/**
 * What is requested. `settings`: only the agent's settings are written, if nothing is installed anyway. `asApplied`:
 * only the program is replaced, and settings that were saved without applying them wait.
 */
type Asked = { run_init: boolean; update_cidr: boolean; settings?: boolean; asApplied?: boolean }

/**
 * Requests a provisioning. One that is under way keeps its steps: the worker does this one after it, and shows it then.
 * @returns when it was requested, which identifies it; null if there is nothing to do
 */
export async function requestProvisioning(
  unit: Unit,
  row: ServerRow,
  { run_init, update_cidr, settings = false, asApplied = false }: Asked
): Promise<string | null> {
  if (!run_init && !update_cidr && !settings) return null
  // Later than the last cancellation, which covers everything requested until then.
  const cancelled = row.provisioningCancelledAt?.getTime() ?? 0
  const askedAt = iso(new Date(Math.max(unit.now.getTime(), cancelled + 1)))
  if (!isUnderWay(row, unit.now)) {
    const at = askedAt
    const waiting = { step: 'waiting' as const, status: 'running' as const, message: 'Waiting for a worker' }
    const steps = [{ ...waiting, output: '', started_at: at, ended_at: null }]
    await unit.tx
      .update(servers)
      .set({ provisioning: { ...waiting, at, ...requestedWork({ init: run_init, settings, asApplied }), steps } })
      .where(eq(servers.id, row.id))
    unit.publish('server', row.id)
  }
  const work = {
    serverId: row.id,
    init: run_init,
    ranges: update_cidr,
    settings,
    ...(asApplied ? { asApplied } : {}),
    askedAt
  }
  // Other work has another key, so that a waiting or cancelled job does not swallow it.
  unit.jobs.send(provisionQueue, work, {
    key: `${row.id}:${run_init}:${asApplied ? 'as-applied' : settings}:${cancelled}`
  })
  return askedAt
}

/** What an installation shows and learns of the machine and its agent. */
type Learned = Pick<
  ServerRow,
  | 'provisioning'
  | 'provisioningCancelledAt'
  | 'sshHostKey'
  | 'sshHostKeyRefused'
  | 'sshFingerprint'
  | 'agentPort'
  | 'proxyPort'
  | 'agentToken'
  | 'agentCertificate'
  | 'agentLocalNames'
  | 'consoleAddress'
  | 'agentSettingsApplied'
  | 'agentService'
>

/** Records what an installation learned in a locked server's row. */
export async function recordInstallation({ tx }: Unit, id: number, learned: Partial<Learned>): Promise<void> {
  await tx.update(servers).set(learned).where(eq(servers.id, id))
}
