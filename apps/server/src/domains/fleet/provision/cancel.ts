import { refuse, type Provisioning, type Server } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import type { Actor } from '../../../infra/actor.ts'
import { iso } from '../../../infra/clock.ts'
import { command, type Unit } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { LOCKS } from '../../../infra/db/locks.ts'
import { ok, type Result } from '../../../infra/result.ts'
import type { SyncContext } from '../agents.ts'
import { isCancelling, readServer } from '../list-servers.ts'
import { lockServer } from '../server-row.ts'
import { servers } from '../tables.ts'

/** How often a worker looks whether its installation was cancelled, in milliseconds. */
const LOOK_MS = 500

/** Somebody cancelled it. */
export class Cancelled extends Error {
  override name = 'Cancelled'
}

/**
 * Cancels what installs a server over SSH, or waits to. The worker that is at it ends the command that runs there, and
 * says how far it was; where none is (it has not begun, or died with its process), it ends here. Cancelling twice is once.
 * @param startedAt which one is meant, by its first step: another one that runs by now is somebody else's
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
    if (last?.status !== 'running' && last?.status !== 'cancelled') return refuse('installation_over')
    if (last.status === 'running' && !isCancelling(last, row.provisioningCancelledAt)) {
      // Not before it was asked for, whatever a worker's clock said.
      const asked = Date.parse(last.steps[0]?.started_at ?? last.at)
      const provisioningCancelledAt = new Date(Math.max(unit.now.getTime(), asked))
      await unit.tx.update(servers).set({ provisioningCancelledAt }).where(eq(servers.id, id))
      unit.audit('server.cancel_provision', id, { before: { step: last.step } })
      if (await isNobodyAtIt(unit, id)) await writeCancelled(unit, id)
    }
    const server = await readServer(unit.tx, id)
    if (!server) throw new Error('the server is gone within its own transaction')
    return ok(server)
  })

/** Whoever installs holds the lock as long as its process lives; until we commit nobody else gets it. */
async function isNobodyAtIt({ tx }: Unit, id: number): Promise<boolean> {
  const { rows } = await tx.execute<{ free: boolean }>(
    sql`select pg_try_advisory_xact_lock(${LOCKS.serverProvisioning}::int, ${id}::int) as free`
  )
  return rows[0]?.free ?? false
}

/** Ends the log of a cancelled one with the step at which it was, unless another one was asked for meanwhile. */
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
  await unit.tx
    .update(servers)
    .set({ provisioning: { ...last, status: 'cancelled', step, message: '', said: [], at, steps: log } })
    .where(eq(servers.id, id))
  unit.publish('server', id)
}

/** Was what was asked for at this time cancelled since? Work of an older console does not say when it was asked for. */
export const wasCancelled = (askedAt: string | undefined, cancelledAt: Date | null): boolean =>
  cancelledAt !== null && (askedAt === undefined || Date.parse(askedAt) <= cancelledAt.getTime())

/**
 * Watches the server's row while `work` runs, whichever process writes it.
 * @returns what `work` returns; it is told to stop by its signal, whose reason is `Cancelled`
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
      // A database that is away for a moment is asked again.
      void look()
        .catch(() => {})
        .finally(() => timer && !controller.signal.aborted && lookAgain())
    }, LOOK_MS)
  }
  lookAgain()
  try {
    return await work(controller.signal)
  } catch (error) {
    // Whatever the end of a command or connection looks like, it was asked for.
    controller.signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
    timer = undefined
  }
}
