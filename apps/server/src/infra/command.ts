import { refuse, type Reason, type Refusal, type Resource } from '@netlet/contract'
import { sql } from './db/drizzle.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Actor } from './actor.ts'
import { insertAuditEntries, type AuditAction, type AuditEntry } from './audit-log.ts'
import type { Published } from './change-feed.ts'
import type { AppContext } from './context.ts'
import { sqlState, violatedConstraint, type Executor, type Transaction } from './db/client.ts'
import type { JobQueue, SendOptions } from './jobs.ts'

/** What a command works with: a transaction, and what is sent when it commits. */
export type Unit = {
  tx: Transaction
  /** When the command began; all its rows carry this time. */
  now: Date
  by: Actor
  /** Adds an entry to the audit log and publishes the change of its target. */
  audit(action: AuditAction, targetId: string | number, change?: { before?: unknown; after?: unknown }): void
  jobs: {
    /** Enqueues a job that exists if, and only if, the command commits. */
    send<T extends object>(queue: JobQueue<T>, data: T, options?: SendOptions): void
  }
  /**
   * Tells browsers and other processes of a change after the commit. `audit` already does this for its target.
   * @param userId the customer who may see it, or everyone; without it only administrators do
   */
  publish(resource: Resource, id?: number, userId?: number | 'everyone'): void
}

type Running = Pick<AppContext, 'db' | 'jobs' | 'now' | 'changes'>
type Options = {
  /** Unique constraints that the command may violate, with the refusal for each. */
  unique?: Readonly<Record<string, Reason | Refusal>>
}

/** Pauses before each retry after a deadlock or a serialisation failure (ms). */
const RETRY_AFTER = [10, 40, 160]

/**
 * Runs one write in one transaction. A refusal that `work` returns, or an exception, rolls it back. Otherwise its audit
 * entries and jobs commit with it, and its changes are published after the commit. A deadlock or a serialisation
 * failure runs `work` again, so `work` must change nothing outside its unit. If the customer's account was deleted in
 * the meantime, the command is refused ('unauthorized').
 * @returns what `work` returned, or the refusal for a unique constraint
 */
export async function command<T>(ctx: Running, by: Actor, work: (unit: Unit) => Promise<T>): Promise<T>
export async function command<T>(
  ctx: Running,
  by: Actor,
  options: Options,
  work: (unit: Unit) => Promise<T>
): Promise<T | Refusal>
export async function command<T>(
  ctx: Running,
  by: Actor,
  ...rest: [(unit: Unit) => Promise<T>] | [Options, (unit: Unit) => Promise<T>]
): Promise<T | Refusal> {
  const [{ unique }, work] = rest.length === 1 ? [{} as Options, rest[0]] : rest
  return attempt(unique, async () => {
    try {
      return await runOnce(ctx, by, work)
    } catch (error) {
      // The row refers to a customer whose account was deleted.
      const isGone = sqlState(error) === '23503' && !(await keepCustomer(ctx.db, by))
      throw isGone ? new Refused(refuse('unauthorized')) : error
    }
  })
}

/**
 * Runs a write and rolls it back, to preview its result. It audits, sends and publishes nothing. It holds the write's
 * locks while `work` runs, and retries like `command`.
 * @returns what `work` returned, or the refusal for a unique constraint
 */
export async function dryRun<T>(
  ctx: Running,
  by: Actor,
  { unique }: Options,
  work: (unit: Unit) => Promise<T>
): Promise<T | Refusal> {
  const unit = { now: ctx.now(), by, audit: () => {}, jobs: { send: () => {} }, publish: () => {} }
  return attempt(unique, async () => {
    try {
      await ctx.db.transaction(async tx => {
        throw new DryRunEnd(await work({ tx, ...unit }))
      })
    } catch (error) {
      if (error instanceof DryRunEnd) return error.given as T
      throw error
    }
    throw new Error('a dry run was not undone')
  })
}

/** Runs a transaction, and retries it after a deadlock or a serialisation failure. */
async function attempt<T>(unique: Options['unique'], run: () => Promise<T>): Promise<T | Refusal> {
  for (let tries = 0; ; tries++) {
    try {
      return await run()
    } catch (error) {
      if (error instanceof Refused) return error.refusal
      const refusal = refusalOf(error, unique)
      if (refusal) return refusal
      const pause = RETRY_AFTER[tries]
      if (!isConcurrencyFailure(error) || pause === undefined) throw error
      await sleep(pause * (0.5 + Math.random()))
    }
  }
}

async function runOnce<T>(ctx: Running, by: Actor, work: (unit: Unit) => Promise<T>): Promise<T> {
  const changes: Published[] = []
  const result = await ctx.db.transaction(async tx => {
    const now = ctx.now()
    const entries: AuditEntry[] = []
    const jobs: PendingJob[] = []
    changes.length = 0
    const given = await work({
      tx,
      now,
      by,
      audit(action, targetId, change = {}) {
        entries.push({ action, targetId, ...change })
        const id = Number(targetId)
        changes.push({
          resource: action.slice(0, action.indexOf('.')) as Resource,
          ...(Number.isSafeInteger(id) ? { id } : {})
        })
      },
      jobs: { send: (queue, data, options = {}) => void jobs.push({ queue, data, options }) },
      publish: (resource, id, userId) =>
        void changes.push({ resource, id, ...(userId === 'everyone' ? { everyone: true } : { userId }) })
    })
    if (isRefusal(given)) throw new Refused(given)
    if (!(await keepCustomer(tx, by))) throw new Refused(refuse('unauthorized'))
    await insertAuditEntries(tx, by, now, entries)
    await sendInOrder(ctx, tx, jobs)
    return given
  })
  ctx.changes.publish(changes)
  return result
}

/** Keeps the acting customer from being deleted; false if already gone. Runs last: `work` may lock the same row. */
async function keepCustomer(tx: Executor, by: Actor): Promise<boolean> {
  if (by.kind !== 'user' || by.isSuperuser) return true
  const { rows } = await tx.execute(sql`select from users where id = ${by.id} and deleted_at is null for key share`)
  return rows.length > 0
}

type PendingJob = { queue: JobQueue<object>; data: object; options: SendOptions }

/** Two senders of the same key wait for each other's commit. Sending last and in one order avoids deadlocks. */
async function sendInOrder(ctx: Running, tx: Transaction, jobs: PendingJob[]): Promise<void> {
  for (const { queue, data, options } of jobs.toSorted(byQueueAndKey)) await ctx.jobs.send(tx, queue, data, options)
}

function byQueueAndKey(a: PendingJob, b: PendingJob): number {
  if (a.queue.name !== b.queue.name) return a.queue.name < b.queue.name ? -1 : 1
  const [first, second] = [a.options.key ?? '', b.options.key ?? '']
  // Shorter keys first puts numbers in numeric order.
  if (first.length !== second.length) return first.length - second.length
  return first === second ? 0 : first < second ? -1 : 1
}

/** Carries a refusal out of a transaction, because only an exception rolls it back. */
class Refused extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.reason)
    this.refusal = refusal
  }
}

/** Carries the result of a dry run out of its transaction. */
class DryRunEnd extends Error {
  readonly given: unknown
  constructor(given: unknown) {
    super('rehearsed')
    this.given = given
  }
}

function isRefusal(result: unknown): result is Refusal {
  return typeof result === 'object' && result !== null && 'ok' in result && result.ok === false && 'reason' in result
}

function refusalOf(error: unknown, unique: Options['unique']): Refusal | undefined {
  if (!unique || sqlState(error) !== '23505') return undefined
  const found = unique[violatedConstraint(error) ?? '']
  return typeof found === 'string' ? refuse(found) : found
}

/** The same transaction may succeed when it runs again. */
const isConcurrencyFailure = (error: unknown): boolean => ['40001', '40P01'].includes(sqlState(error) ?? '')
