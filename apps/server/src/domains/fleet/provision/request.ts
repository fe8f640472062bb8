import { eq } from 'drizzle-orm'
import { iso, MINUTE } from '../../../infra/clock.ts'
import type { Unit } from '../../../infra/command.ts'
import { isInstalling } from '../list-servers.ts'
import { provisionQueue } from '../queues.ts'
import type { ServerRow } from '../server-row.ts'
import { servers } from '../tables.ts'
import { askedFor } from './own-row.ts'

/** A provisioning that shows no step for so long has died with its process. */
const STUCK_MS = 20 * MINUTE

/** Does it show steps, or wait for a worker, as far as anybody can tell? Also one that was cancelled and whose worker says so soon. */
export function isAlive({ provisioning: last }: Pick<ServerRow, 'provisioning'>, now: Date): boolean {
  if (last?.status !== 'running') return false
  // A step of the far future was shown while a clock was ahead: it would be alive until then.
  return Math.abs(now.getTime() - Date.parse(last.at)) < STUCK_MS
}

/** One that was cancelled is over, though its worker may not know yet. */
export const isUnderWay = (row: ServerRow, now: Date): boolean => isInstalling(row) && isAlive(row, now)

/**
 * What is asked for; `settings`: only the agent's settings are written, where nothing is installed anyhow. `asApplied`: it is about
 * the program alone, and settings that somebody saved without applying them wait.
 */
type Asked = { run_init: boolean; update_cidr: boolean; settings?: boolean; asApplied?: boolean }

/**
 * Another one that is under way keeps its steps: the worker does this one after it, and shows it then.
 * @returns when it was asked for, which names it; null where nothing is
 */
export async function requestProvisioning(
  unit: Unit,
  row: ServerRow,
  { run_init, update_cidr, settings = false, asApplied = false }: Asked
): Promise<string | null> {
  if (!run_init && !update_cidr && !settings) return null
  // Later than the last cancel, which counts for what was asked for by then.
  const cancelled = row.provisioningCancelledAt?.getTime() ?? 0
  const askedAt = iso(new Date(Math.max(unit.now.getTime(), cancelled + 1)))
  if (!isUnderWay(row, unit.now)) {
    const at = askedAt
    const waiting = { step: 'waiting' as const, status: 'running' as const, message: 'Waiting for a worker' }
    const steps = [{ ...waiting, output: '', started_at: at, ended_at: null }]
    await unit.tx
      .update(servers)
      .set({ provisioning: { ...waiting, at, ...askedFor({ init: run_init, settings, asApplied }), steps } })
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
  // Another key for another piece of work: one that waits already, or was cancelled, must not swallow it.
  unit.jobs.send(provisionQueue, work, {
    key: `${row.id}:${run_init}:${asApplied ? 'as-applied' : settings}:${cancelled}`
  })
  return askedAt
}
