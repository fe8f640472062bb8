import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { AT_START, job, type Job } from '../../infra/job.ts'
import { handleEvent } from './handle-event.ts'
import { handleProductEvents } from './product-events.ts'
import {
  applyProductEventQueue,
  registerWebhooksQueue,
  renewTokenQueue,
  moneyEventQueue,
  sweepEventsQueue,
  tagOrderQueue
} from './queues.ts'
import { checkPlatform, readCheck } from './check-platform.ts'
import { registerWebhooks, requestWebhooks } from './register-webhooks.ts'
import { tagOrder } from './platform.ts'
import type { EventHandlers } from './topics.ts'
import { sweepEvents } from './events.ts'
import { and, inArray, isNotNull, lt, not, sql, type SQL } from '../../infra/db/drizzle.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { platformEvents } from './tables.ts'
import type { Settings } from '@netlet/contract'
import { iso, MINUTE } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { refusedMail } from '../mail/index.ts'
import { findRefusal, type Found, type NoticeFinder } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'
import { accessOf, platformKeyOf, openTokens, readToken, renewalOf } from './token.ts'
import { countLateEvents, waitingEvents } from './waiting-events.ts'
import { missedWebhooks } from './refused-webhooks.ts'
import type { AppContext } from '../../infra/context.ts'
import { eraseEndedSecrets } from './webhook-secrets.ts'

export const commerceJobs = (handlers: EventHandlers): Job[] => [
  job(moneyEventQueue, {
    purpose: 'Processes a payment from the platform: payment, order, points and delivery in one transaction.',
    concurrency: 4,
    importance: 'urgent',
    run: (ctx, { eventId }) => handleEvent(ctx, handlers, eventId)
  }),
  job(applyProductEventQueue, {
    purpose: 'Applies a product change from the platform to the catalogue. Of several changes, it applies the newest.',
    // An import of thousands of products must not delay payments.
    importance: 'background',
    run: (ctx, job) => handleProductEvents(ctx, handlers, job)
  }),
  job(sweepEventsQueue, {
    purpose: 'Schedules stored platform events that are still unprocessed.',
    cron: '* * * * *',
    atStart: true,
    run: sweepEvents
  }),
  job(tagOrderQueue, {
    purpose: "Tags the platform's order as delivered, renewed, or failed with a note.",
    importance: 'background',
    run: tagOrder
  }),
  job(renewTokenQueue, {
    purpose:
      "Renews the platform's access token hours before it expires, retries a refused one, and deletes expired webhook secrets.",
    cron: '*/5 * * * *',
    run: renewToken
  }),
  job(registerWebhooksQueue, {
    purpose:
      "Checks the platform's webhook registrations and restores missing ones: hourly, at the start, and after a settings change.",
    cron: '17 * * * *',
    atStart: true,
    // At the start it only enqueues the work: a silent platform must not keep the worker from starting.
    run: async (ctx, _data, jobId) => {
      if (jobId === AT_START) return command(ctx, SYSTEM, async unit => requestWebhooks(unit))
      await checkPlatform(ctx)
      await registerWebhooks(ctx)
    }
  })
]

/** Only these payloads may have a buyer's name. Whether another event is open is derived from its own. */
const hasPayload = sql`(${platformEvents.payload} <> '{}'
  and ${platformEvents.topic} not in ('disputes/create', 'disputes/update', 'reconciled/refund', 'reconciled/doubt'))`

/**
 * Never touches events that wait for their handling or for an administrator.
 * @param isUnresolved condition for events that wait for an administrator, from the domain inbox
 */
export function commerceRetention(isUnresolved: SQL): RetentionEntry[] {
  const isSettled = and(isNotNull(platformEvents.processedAt), not(isUnresolved))
  return [
    {
      what: 'event_payloads',
      keep: { setting: 'keep_event_payloads_days' },
      why: "Contents of platform events, including buyers' names and addresses. Needed only to investigate a payment.",
      async remove({ tx }, before, limit) {
        const old = tx
          .select({ eventId: platformEvents.eventId })
          .from(platformEvents)
          .where(and(lt(platformEvents.receivedAt, before), hasPayload, isSettled))
          .limit(limit)
          .for('update', { skipLocked: true })
        const emptied = await tx
          .update(platformEvents)
          .set({ payload: {} })
          .where(inArray(platformEvents.eventId, old))
          .returning({ eventId: platformEvents.eventId })
        return emptied.length
      },
      count: db => countRows(db, platformEvents, platformEvents.receivedAt, hasPayload)
    },
    {
      what: 'platform_events',
      keep: { setting: 'keep_events_days' },
      why: 'Received events and their results. The shop recognises a repeated event for as long as it is kept.',
      remove: (unit, before, limit) =>
        removeRows(unit, platformEvents, and(lt(platformEvents.receivedAt, before), isSettled), limit),
      count: db => countRows(db, platformEvents, platformEvents.receivedAt)
    }
  ]
}

/** How long renewals may fail before operators get a notice. */
const RENEWAL_FAILS = 15 * MINUTE

/**
 * A token that ends soon without a successor, because requests fail or no worker makes them. A single failure recovers
 * hours before the end.
 */
async function findEndingToken(db: Executor, settings: Settings, now: Date): Promise<Found[]> {
  const row = await readToken(db, settings)
  if (!row) return []
  const { obtainedAt, endsAt, failingSince, failure } = row
  const lives = endsAt !== null && endsAt > now
  const isLate = obtainedAt && endsAt ? lateOf({ obtainedAt, endsAt }) <= now : failure !== null
  const lasts = failingSince !== null && now.getTime() - failingSince.getTime() >= RENEWAL_FAILS
  if (!isLate && !lasts) return []
  const params = { ends: endsAt ? iso(endsAt) : '–', message: failure?.message ?? '–' }
  return [{ subject: 'platform_token', words: lives ? 'token_ending' : 'token_ended', params, since: failingSince }]
}

/** Half-way between renewal and end: three hours are left of a day. */
const lateOf = (token: { obtainedAt: Date; endsAt: Date }): Date =>
  new Date((renewalOf(token).getTime() + token.endsAt.getTime()) / 2)

type FinderContext = Parameters<NoticeFinder['find']>[0]

/** Numbers in the database's message, such as process ids, do not make it another cause. */
const causeOf = (reason: string | null): string => (reason ?? 'unknown').replace(/\d+/g, '#')

export const commerceFinders: NoticeFinder[] = [
  {
    cause: 'late_events',
    every: 1,
    async find({ db }, { now }) {
      const count = await countLateEvents(db, now)
      if (count === 0) return []
      const { oldest, reason } = await waitingEvents(db)
      const params = { count, since: iso(oldest ?? now), reason: reason ?? '–' }
      return [{ subject: causeOf(reason), words: 'late_events', params, since: oldest, count }]
    }
  },
  {
    cause: 'webhooks',
    every: 15,
    async find({ db, config }, { now, open }) {
      const count = await missedWebhooks(db, now)
      const missed = { subject: 'silence', words: 'webhooks', params: { count, url: config.publicUrl }, count } as const
      if (!open.includes('foreign')) return count > 0 ? [missed] : []
      const check = await readCheck(db, 'webhooks')
      const lasts = !check || !('foreign' in check.result) || check.result.foreign.length > 0
      return [...(count > 0 ? [missed] : []), ...(lasts ? [{ subject: 'foreign' }] : [])]
    }
  }
]

/** Tokens that the platform or the mail service refuses, and a platform token that ends without a successor. */
export async function findRefusedTokens({ db, secrets, now }: FinderContext): Promise<Found[]> {
  const settings = await readSettings(db, secrets)
  const access = accessOf(settings)
  const found: Found[] = []
  if (access) found.push(...(await findRefusal(db, 'platform', platformKeyOf(settings))))
  if (access === 'grant') {
    const refusals = await findRefusal(db, 'platform_key', platformKeyOf(settings))
    found.push(...refusals, ...(refusals.length === 0 ? await findEndingToken(db, settings, now()) : []))
  }
  const mail = await refusedMail(db)
  if (mail) {
    const params = { service: 'Mail', message: mail.message }
    found.push({ subject: 'mail', words: 'token', params, since: mail.since })
  }
  return found
}

/**
 * Erases former webhook secrets that have ended, renews the platform's token when due, and retries refused credentials,
 * because the app may be installed now.
 */
export async function renewToken(ctx: AppContext): Promise<void> {
  await eraseEndedSecrets(ctx)
  const settings = await readSettings(ctx.db, ctx.secrets)
  const access = accessOf(settings)
  if (access === null) return
  if (access === 'grant') await openTokens(ctx, settings).current()
  const refused = await findRefusal(ctx.db, 'platform', platformKeyOf(settings))
  if (refused.length > 0) await checkPlatform(ctx)
}
