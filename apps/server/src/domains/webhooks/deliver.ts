import type { WebhookFailure } from '@netlet/contract'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR, iso, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { and, eq, sql } from '../../infra/db/drizzle.ts'
import { startOf } from '../../infra/text.ts'
import { postToPublicAddress, type PublicFailure, type PublicReply } from '../../integrations/public-http/index.ts'
import { retryAfterMs } from '../../integrations/http-exchange.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { enqueueMail } from '../mail/index.ts'
import { payloadOf, signedHeaders } from './payload.ts'
import { readPolicy, type WebhookPorts } from './policy.ts'
import { jobOptions, sendWebhookQueue } from './queues.ts'
import { webhookAttempts, webhookDeliveries, webhookEndpoints, webhookEvents } from './tables.ts'

/** Pauses after failed tries: 10 s, 30 s, 90 s and so on, at most a day. So 12 tries take about 3 days. */
const FIRST_MS = 10_000
const FACTOR = 3
/** The share by which a pause varies, so that simultaneous failures do not return simultaneously. */
const JITTER = 0.2

/** The longest pause of a failed endpoint while other events wait for it. */
const LONGEST_REST = 30 * MINUTE

/** @param random from 0 to 1 @returns milliseconds until a delivery's next try, after so many failed ones */
export const pauseAfter = (tries: number, random: number): number =>
  Math.round(Math.min(DAY, FIRST_MS * FACTOR ** (tries - 1)) * jitter(random))

/** @returns milliseconds of an endpoint's pause after so many failures in a row */
const restAfter = (failures: number, random: number): number =>
  Math.round(Math.min(LONGEST_REST, FIRST_MS * 2 ** Math.min(failures - 1, 20)) * jitter(random))

const jitter = (random: number): number => 1 - JITTER + 2 * JITTER * random

/** The longest accepted `Retry-After`. */
const MAX_RETRY_AFTER = 12 * HOUR

/** For the whole exchange: an endpoint should store the event and reply. */
const TIMEOUT_MS = 10_000
/** An endpoint that fails this long and this often is switched off. */
const OFF_AFTER_MS = 3 * DAY
const OFF_AFTER_FAILURES = 5
const KEPT_CHARACTERS = 1000

/** Network and randomness, which tests replace. */
export type Sending = WebhookPorts & { timeoutMs?: number; random?: () => number }

/** Sends one delivery and records the result. After a crash it may be sent twice; the event's id tells the receiver. */
export async function deliverWebhook(
  ctx: AppContext,
  sending: Sending,
  deliveryId: number,
  jobId: string
): Promise<void> {
  const claimed = await claimDelivery(ctx, deliveryId, jobId)
  if (!claimed) return
  const { endpoint, event } = claimed
  const body = payloadOf(event, ctx.config.publicUrl, endpoint.userId === null)
  const headers = signedHeaders(ctx.secrets, endpoint, event, body, ctx.now())
  const reply =
    headers === null
      ? UNSIGNED
      : await postToPublicAddress(new URL(endpoint.url), {
          headers,
          body,
          policy: await readPolicy(ctx, sending, endpoint.userId),
          timeoutMs: sending.timeoutMs ?? TIMEOUT_MS,
          ...(sending.resolve ? { resolve: sending.resolve } : {})
        })
  await command(ctx, SYSTEM, unit => record(unit, ctx, claimed, reply, sending.random ?? Math.random))
}

type Unsigned = Omit<PublicFailure, 'failure'> & { failure: 'secret_unreadable' }
type Reply = PublicReply | PublicFailure | Unsigned

/** An unsigned event could not be verified, so it is not sent. */
const UNSIGNED: Unsigned = { ok: false, failure: 'secret_unreadable', detail: null, status: null, durationMs: 0 }

/** Null: delivered. */
function failureOf(reply: Reply): WebhookFailure | null {
  if (!reply.ok) return reply.failure
  if (reply.status >= 200 && reply.status < 300) return null
  return reply.status >= 300 && reply.status < 400 ? 'redirect' : 'status'
}

async function record(
  unit: Unit,
  ctx: AppContext,
  claimed: Claimed,
  reply: Reply,
  random: () => number
): Promise<void> {
  const { tx, now } = unit
  // The endpoint first, as in a claim, so that concurrent deliveries of one endpoint do not deadlock.
  const [endpoint] = await tx
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.id, claimed.endpoint.id))
    .for('no key update')
  const [delivery] = await tx
    .select()
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.id, claimed.delivery.id), eq(webhookDeliveries.state, 'waiting')))
    .for('no key update')
  // Removed with its user in the meantime, or ended by a job that took it for abandoned.
  if (!endpoint || !delivery) return
  const failure = failureOf(reply)
  await tx.insert(webhookAttempts).values({
    deliveryId: delivery.id,
    at: now,
    status: reply.status || null,
    failure,
    detail: reply.ok ? null : reply.detail,
    durationMs: reply.durationMs,
    answer: reply.ok ? startOf(reply.answer, KEPT_CHARACTERS) : ''
  })
  await tx
    .update(webhookDeliveries)
    .set({ status: reply.status || null, failure, claimedAt: null, jobId: null })
    .where(eq(webhookDeliveries.id, delivery.id))
  const at = { delivery, endpoint }
  if (failure === null) {
    await tx
      .update(webhookEndpoints)
      .set({ failures: 0, failingSince: null, pausedUntil: null, lastSentAt: now, lastMs: reply.durationMs })
      .where(eq(webhookEndpoints.id, endpoint.id))
    return endDelivery(unit, at, 'sent')
  }
  const isTest = delivery.type === 'webhook.test'
  const wished = reply.ok ? retryAfterMs(reply.retryAfter, now, MAX_RETRY_AFTER) : 0
  // A failed test does not count as a failing endpoint. Nor does a failure at an address that has changed since.
  const off =
    isTest || endpoint.url !== claimed.endpoint.url ? null : await recordFailure(unit, at, { reply, wished, random })
  const pause = Math.max(pauseAfter(delivery.tries, random()), wished)
  const nextAt = new Date(now.getTime() + pause)
  if (isTest || off || nextAt > delivery.expiresAt) await endDelivery(unit, at, 'failed')
  else {
    await tx.update(webhookDeliveries).set({ nextAt }).where(eq(webhookDeliveries.id, delivery.id))
    const options = jobOptions(delivery.id, { ...endpoint, failures: endpoint.failures + 1 }, pause)
    unit.jobs.send(sendWebhookQueue, { deliveryId: delivery.id }, options)
    unit.publish('webhook', endpoint.id, endpoint.userId ?? undefined)
  }
  if (off && endpoint.enabled) await notifyOwner(unit, ctx, claimed, off)
}

type Failing = { reply: Reply; wished: number; random: () => number }

/** Pauses the endpoint, or switches it off. @returns why it is off now; null if it is not */
async function recordFailure(
  { tx, now }: Unit,
  { endpoint }: Pick<Claimed, 'endpoint'>,
  { reply, wished, random }: Failing
): Promise<'failing' | 'gone' | null> {
  const failures = endpoint.failures + 1
  const failingSince = endpoint.failingSince ?? now
  const isGone = reply.ok && reply.status === 410
  const isLong = now.getTime() - failingSince.getTime() >= OFF_AFTER_MS && failures >= OFF_AFTER_FAILURES
  const off = isGone ? 'gone' : isLong ? 'failing' : null
  const pausedUntil = new Date(now.getTime() + Math.max(restAfter(failures, random()), wished))
  await tx
    .update(webhookEndpoints)
    .set({
      failures,
      failingSince,
      pausedUntil,
      lastMs: reply.durationMs,
      ...(off ? { enabled: false, offReason: off } : {})
    })
    .where(eq(webhookEndpoints.id, endpoint.id))
  return off
}

/** Once for each time that it is switched off. */
async function notifyOwner(
  unit: Unit,
  { config }: AppContext,
  { endpoint }: Claimed,
  why: 'failing' | 'gone'
): Promise<void> {
  const host = new URL(endpoint.url).host
  unit.audit('webhook.switch_off', endpoint.id, { after: { url: endpoint.url, reason: why } })
  const key = `webhook-off:${endpoint.id}:${iso(unit.now)}`
  if (endpoint.userId === null) {
    return notifyAdmins(unit, {
      words: why === 'gone' ? 'webhook_gone' : 'webhook_failing',
      params: { host, since: iso(endpoint.failingSince ?? unit.now) },
      key
    })
  }
  const [user] = await unit.tx
    .select({ email: users.email, language: users.language, username: users.username })
    .from(users)
    .where(eq(users.id, endpoint.userId))
  if (!user) return
  enqueueMail(unit, {
    to: user.email,
    language: user.language,
    template: 'webhook-off',
    data: { username: user.username, host, why, settings_url: `${config.publicUrl}/dashboard/index/setting` },
    key
  })
}

export type EndpointRow = typeof webhookEndpoints.$inferSelect
type DeliveryRow = typeof webhookDeliveries.$inferSelect
type Claimed = { delivery: DeliveryRow; endpoint: EndpointRow; event: typeof webhookEvents.$inferSelect }

/** Longer than any exchange takes: an older job has died. */
const CLAIM_MS = MINUTE
/** The most deliveries to one endpoint in a minute. */
const A_MINUTE = { customer: 60, operators: 300 }

/**
 * Claims a delivery for this job. If it is not due, or its endpoint pauses or has reached its limit, a later job is
 * enqueued; a delivery that is no longer needed ends.
 * @returns null if there is nothing to send now
 * @throws while another job sends it, so that this one takes over if that one dies
 */
const claimDelivery = (ctx: AppContext, deliveryId: number, jobId: string): Promise<Claimed | null> =>
  command(ctx, SYSTEM, async unit => {
    const { tx, now } = unit
    const found = await lockDelivery(unit, deliveryId)
    if (found?.delivery.state !== 'waiting') return null
    const { delivery, endpoint, isActive } = found
    if (delivery.claimedAt && delivery.jobId !== jobId && delivery.claimedAt.getTime() > now.getTime() - CLAIM_MS)
      throw new Error(`Another job sends webhook delivery ${deliveryId}`)
    if (endpoint.deletedAt || !endpoint.enabled || !isActive) {
      await endDelivery(unit, found, 'cancelled')
      return null
    }
    const wait = waitOf(delivery, endpoint, now)
    if (wait > 0) {
      const nextAt = new Date(now.getTime() + wait)
      await tx.update(webhookDeliveries).set({ nextAt }).where(eq(webhookDeliveries.id, deliveryId))
      unit.jobs.send(sendWebhookQueue, { deliveryId }, jobOptions(deliveryId, endpoint, wait))
      return null
    }
    const minute = minuteOf(now)
    const isSame = endpoint.countedSince?.getTime() === minute.getTime()
    await tx
      .update(webhookEndpoints)
      .set({ countedSince: minute, sent: isSame ? sql`${webhookEndpoints.sent} + 1` : 1 })
      .where(eq(webhookEndpoints.id, endpoint.id))
    const [claimed] = await tx
      .update(webhookDeliveries)
      .set({ jobId, claimedAt: now, tries: sql`${webhookDeliveries.tries} + 1` })
      .where(eq(webhookDeliveries.id, deliveryId))
      .returning()
    return claimed ? { delivery: claimed, endpoint, event: found.event } : null
  })

async function lockDelivery({ tx }: Unit, deliveryId: number) {
  const [known] = await tx
    .select({ endpointId: webhookDeliveries.endpointId })
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.id, deliveryId))
  if (!known) return undefined
  const [owner] = await tx
    .select({ endpoint: webhookEndpoints, isActive: sql<boolean>`coalesce(${users.isActive}, true)` })
    .from(webhookEndpoints)
    .leftJoin(users, eq(users.id, webhookEndpoints.userId))
    .where(eq(webhookEndpoints.id, known.endpointId))
    .for('no key update', { of: webhookEndpoints })
  const [row] = await tx
    .select({ delivery: webhookDeliveries, event: webhookEvents })
    .from(webhookDeliveries)
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookDeliveries.eventId))
    .where(and(eq(webhookDeliveries.id, deliveryId)))
    .for('no key update', { of: webhookDeliveries })
  return row && owner ? { ...row, ...owner } : undefined
}

const minuteOf = (now: Date): Date => new Date(Math.floor(now.getTime() / MINUTE) * MINUTE)

/** @returns milliseconds to wait; 0: it can be sent now */
function waitOf(delivery: DeliveryRow, endpoint: EndpointRow, now: Date): number {
  const asked = isAsked(delivery)
  const early = delivery.nextAt.getTime() - now.getTime()
  if (early > 0) return early
  const most = endpoint.userId === null ? A_MINUTE.operators : A_MINUTE.customer
  const minute = minuteOf(now)
  if (endpoint.countedSince?.getTime() === minute.getTime() && endpoint.sent >= most)
    return minute.getTime() + MINUTE - now.getTime() + Math.random() * MINUTE
  // Requested sends ignore the pause, and an event must not expire without a try because of it.
  const rests = (endpoint.pausedUntil?.getTime() ?? 0) - now.getTime()
  if (asked || rests <= 0) return 0
  const left = delivery.expiresAt.getTime() - now.getTime()
  // Spread, so that waiting deliveries do not start together.
  return Math.max(0, Math.min(rests + Math.random() * 10_000, left))
}

/** The first try of a test or of a repeated delivery. */
const isAsked = ({ askedAt, tries }: DeliveryRow): boolean => askedAt !== null && tries === 0

async function endDelivery(
  unit: Unit,
  { delivery, endpoint }: Pick<Claimed, 'delivery' | 'endpoint'>,
  state: 'sent' | 'failed' | 'cancelled'
): Promise<void> {
  await unit.tx
    .update(webhookDeliveries)
    .set({ state, endedAt: unit.now, claimedAt: null, jobId: null })
    .where(eq(webhookDeliveries.id, delivery.id))
  unit.publish('webhook', endpoint.id, endpoint.userId ?? undefined)
}
