import { recordInstallation, type SyncContext, isCancelling, readServer, lockServer } from '../servers/index.ts'
import { refuse, type Provisioning, type Server } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { LOCKS } from '../../infra/db/locks.ts'
import { ok, type Result } from '../../infra/result.ts'
import { servers } from '../servers/tables.ts'

/** How often a worker checks whether its installation was cancelled, in milliseconds. */
const LOOK_MS = 500

export class Cancelled extends Error {
  override name = 'Cancelled'
}

/**
 * Cancels a server's running or waiting installation. Its worker ends the running command and records how far it got.
 * If no worker has it (it has not begun, or its process died), it ends here. Cancelling twice is the same as once.
 * @param startedAt identifies the installation by its first step; a later one is not cancelled
 */
export const cancelProvisioning = (
  ctx: AppContext,
  by: Actor,
  id: number,
  startedAt?: string
): Promise<Result<Server>> =>
  command(ctx, by, async unit => {
    const row = await lockServer(unit, id)
    if (!row) return refuse('not_found')
    const last = row.provisioning
    if (last && startedAt !== undefined && last.status === 'running' && last.steps[0]?.started_at !== startedAt)
      return refuse('stale')
    if (last?.status !== 'running' && last?.status !== 'cancelled') return refuse('already_over')
    if (last.status === 'running' && !isCancelling(last, row.provisioningCancelledAt)) {
      // Not before the request, even if a worker's clock was ahead.
      const asked = Date.parse(last.steps[0]?.started_at ?? last.at)
      const provisioningCancelledAt = new Date(Math.max(unit.now.getTime(), asked))
      await recordInstallation(unit, id, { provisioningCancelledAt })
      unit.audit('server.cancel_provision', id, { before: { step: last.step } })
      if (await hasNoWorker(unit, id)) await writeCancelled(unit, id)
    }
    const server = await readServer(unit.tx, id)
    if (!server) throw new Error('the server is gone within its own transaction')
    return ok(server)
  })

/** A worker holds this lock while its process lives. If we get it, no other process can until we commit. */
async function hasNoWorker({ tx }: Unit, id: number): Promise<boolean> {
  const { rows } = await tx.execute<{ free: boolean }>(
    sql`select pg_try_advisory_xact_lock(${LOCKS.serverProvisioning}::int, ${id}::int) as free`
  )
  return rows[0]?.free ?? false
}

/** Ends the log of a cancelled installation at its current step, unless another one was requested since. */
export async function writeCancelled(unit: Unit, id: number, steps?: Provisioning['steps']): Promise<void> {
  const row = await lockServer(unit, id)
  const last = row?.provisioning
  if (!row || !last || !isCancelling(last, row.provisioningCancelledAt)) return
  const at = iso(unit.now)
  const isLast = steps?.[0]?.started_at === last.steps[0]?.started_at
  const log = (steps && isLast ? steps : last.steps).map((one, index, all) =>
    index === all.length - 1 ? { ...one, status: 'cancelled' as const, ended_at: at } : one
  )
  const { step } = log.at(-1) ?? last
  const provisioning = { ...last, status: 'cancelled' as const, step, message: '', said: [], at, steps: log }
  await recordInstallation(unit, id, { provisioning })
  unit.publish('server', id)
}

/** Whether a request of this time has been cancelled since. An older console does not store the time. */
export const wasCancelled = (askedAt: string | undefined, cancelledAt: Date | null): boolean =>
  cancelledAt !== null && (askedAt === undefined || Date.parse(askedAt) <= cancelledAt.getTime())

/**
 * Watches the server's row while `work` runs, because any process may cancel.
 * @returns what `work` returns; a cancellation aborts its signal with `Cancelled`
 */
export async function untilCancelled<T>(
  ctx: SyncContext,
  { serverId, askedAt }: { serverId: number; askedAt?: string | undefined },
  work: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  const controller = new AbortController()
  const look = async () => {
    const [row] = await ctx.db
      .select({ at: servers.provisioningCancelledAt, deletedAt: servers.deletedAt })
      .from(servers)
      .where(eq(servers.id, serverId))
    const isGone = !row || row.deletedAt !== null
    if (isGone || wasCancelled(askedAt, row.at)) controller.abort(new Cancelled('The installation was cancelled'))
  }
  let timer: NodeJS.Timeout | undefined
  const lookAgain = () => {
    timer = setTimeout(() => {
      // If the database is away for a moment, look again.
      void look()
        .catch(() => {})
        .finally(() => timer && !controller.signal.aborted && lookAgain())
    }, LOOK_MS)
  }
  lookAgain()
  try {
    return await work(controller.signal)
  } catch (error) {
    // After a cancellation, the error of the command or the connection is only its consequence.
    controller.signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
    timer = undefined
  }
}
