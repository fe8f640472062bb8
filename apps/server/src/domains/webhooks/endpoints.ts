import {
  MAX_ENDPOINTS,
  type NewWebhookEndpoint,
  type OperatorWebhookForm,
  refuse,
  type WebhookEndpoint,
  type WebhookForm
} from '@netlet/contract'
import { and, desc, eq, gt, isNull, sql } from '../../infra/db/drizzle.ts'
import type { UserActor } from '../../infra/actor.ts'
import { DAY, iso, isoOrNull } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { clearEntriesOf } from '../../infra/forget-in-audit-log.ts'
import { auditLog } from '../../infra/tables.ts'
import { type Edit, staleEdit, versionOf } from '../../infra/version.ts'
import { users } from '../accounts/tables.ts'
import type { EndpointRow } from './deliver.ts'
import { newSecret } from './payload.ts'
import { type Owner, refusedTarget, type WebhookPorts } from './policy.ts'
import { webhookEndpoints } from './tables.ts'

/** Each endpoint keeps a log, so creating and deleting them in a loop must end. */
const MAX_MADE_A_DAY = { customer: 20, operators: 100 }
/** How long a former secret also signs, so that receivers have time to switch. */
const FORMER_SECRET_MS = DAY

export const isOf = (owner: Owner) =>
  owner === null ? isNull(webhookEndpoints.userId) : eq(webhookEndpoints.userId, owner)
const ofOwner = (owner: Owner) => and(isOf(owner), isNull(webhookEndpoints.deletedAt))

const fieldsOf = ({
  url,
  description,
  events,
  enabled
}: Pick<EndpointRow, 'url' | 'description' | 'events' | 'enabled'>) => ({
  url,
  description,
  events: events.toSorted(),
  enabled
})

export const presentEndpoint = (row: EndpointRow, username: string | null, now: Date): WebhookEndpoint => ({
  id: row.id,
  user_id: row.userId,
  username,
  url: row.url,
  description: row.description,
  events: row.events,
  enabled: row.enabled,
  off_reason: row.enabled ? null : row.offReason,
  failing_since: isoOrNull(row.failingSince),
  paused_until: row.pausedUntil && row.pausedUntil > now ? iso(row.pausedUntil) : null,
  former_secret_until: row.formerUntil && row.formerUntil > now ? iso(row.formerUntil) : null,
  last_sent_at: isoOrNull(row.lastSentAt),
  created_at: iso(row.createdAt),
  version: versionOf(fieldsOf(row))
})

export async function ownEndpoints(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  by: UserActor
): Promise<WebhookEndpoint[]> {
  const rows = await db.select().from(webhookEndpoints).where(ofOwner(by.id)).orderBy(desc(webhookEndpoints.id))
  return rows.map(row => presentEndpoint(row, by.username, now()))
}

type Form = WebhookForm | OperatorWebhookForm

/** Adds an endpoint. Only this reply contains the secret; the database has it sealed. The demo provides its own. */
export async function createEndpoint(
  ctx: AppContext,
  ports: WebhookPorts,
  { by, owner, secret = newSecret() }: { by: UserActor; owner: Owner; secret?: string },
  form: Form
): Promise<Result<NewWebhookEndpoint>> {
  const refused = await refusedTarget(ctx, ports, owner, form.url)
  if (refused) return refused
  const whose = owner === null ? 'operators' : 'customer'
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    // Serializes an owner's calls, so that the limits hold.
    await lock(tx, 'webhookEndpoints', owner ?? 0)
    const max = MAX_ENDPOINTS[whose]
    if ((await tx.$count(webhookEndpoints, ofOwner(owner))) >= max) return refuse('too_many_kept', { params: { max } })
    const ofToday = and(isOf(owner), gt(webhookEndpoints.createdAt, new Date(now.getTime() - DAY)))
    if ((await tx.$count(webhookEndpoints, ofToday)) >= MAX_MADE_A_DAY[whose])
      return refuse('made_in_a_day', { params: { max: MAX_MADE_A_DAY[whose] } })
    const [made] = await tx
      .insert(webhookEndpoints)
      .values({ ...form, userId: owner, secret: ctx.secrets.seal(secret), createdAt: now })
      .returning()
    if (!made) throw new Error('the endpoint was not added')
    unit.audit('webhook.create', made.id, { after: fieldsOf(made) })
    unit.publish('webhook', made.id, owner ?? undefined)
    return ok({ ...presentEndpoint(made, await nameOf(tx, owner), now), secret })
  })
}

/** Edits an endpoint. Switching it on clears its failures. */
export async function updateEndpoint(
  ctx: AppContext,
  ports: WebhookPorts,
  by: UserActor,
  { id, owner }: { id: number; owner: Owner },
  { version, ...form }: Edit<Form>
): Promise<Result<WebhookEndpoint>> {
  const refused = await refusedTarget(ctx, ports, owner, form.url)
  if (refused) return refused
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    const row = await lockEndpoint(unit, id, owner)
    if (!row) return refuse('not_found')
    const username = await nameOf(tx, owner)
    const before = fieldsOf(row)
    const after = fieldsOf(form)
    const stale = staleEdit(version, presentEndpoint(row, username, now), { now: before, sent: after })
    if (stale) return stale
    const startsOver = form.url !== row.url || (form.enabled && !row.enabled)
    const [changed] = await tx
      .update(webhookEndpoints)
      .set({
        ...form,
        ...(startsOver ? { failures: 0, failingSince: null, pausedUntil: null, lastMs: null } : {}),
        ...(form.enabled === row.enabled ? {} : { offReason: null })
      })
      .where(eq(webhookEndpoints.id, id))
      .returning()
    if (!changed) throw new Error(`There is no endpoint ${id}`)
    unit.audit('webhook.edit', id, { before, after })
    unit.publish('webhook', id, owner ?? undefined)
    return ok(presentEndpoint(changed, username, now))
  })
}

/** Its log stays for a while; its secrets do not. */
export const deleteEndpoint = (
  ctx: AppContext,
  by: UserActor,
  { id, owner }: { id: number; owner: Owner }
): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const row = await lockEndpoint(unit, id, owner)
    if (!row) return refuse('not_found')
    await unit.tx
      .update(webhookEndpoints)
      .set({ deletedAt: unit.now, enabled: false, secret: Buffer.alloc(0), formerSecret: null, formerUntil: null })
      .where(eq(webhookEndpoints.id, id))
    unit.audit('webhook.delete', id, { before: fieldsOf(row) })
    unit.publish('webhook', id, owner ?? undefined)
    return done
  })

/** Creates a new secret. The former one also signs for a day; an older one is deleted. */
export const rotateSecret = (
  ctx: AppContext,
  by: UserActor,
  { id, owner }: { id: number; owner: Owner }
): Promise<Result<{ secret: string; former_secret_until: string }>> =>
  command(ctx, by, async unit => {
    const row = await lockEndpoint(unit, id, owner)
    if (!row) return refuse('not_found')
    const secret = newSecret()
    const formerUntil = new Date(unit.now.getTime() + FORMER_SECRET_MS)
    await unit.tx
      .update(webhookEndpoints)
      .set({ secret: ctx.secrets.seal(secret), formerSecret: row.secret, formerUntil })
      .where(eq(webhookEndpoints.id, id))
    unit.audit('webhook.rotate_secret', id, { after: { url: row.url } })
    unit.publish('webhook', id, owner ?? undefined)
    return ok({ secret, former_secret_until: iso(formerUntil) })
  })

/** Locks an endpoint for the transaction. Events can still be written. */
export async function lockEndpoint({ tx }: Unit, id: number, owner: Owner): Promise<EndpointRow | undefined> {
  const [row] = await tx
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.id, id), ofOwner(owner)))
    .for('no key update')
  return row
}

async function nameOf(db: Executor, owner: Owner): Promise<string | null> {
  if (owner === null) return null
  const [user] = await db.select({ username: users.username }).from(users).where(eq(users.id, owner))
  return user?.username ?? null
}

/**
 * Removes a deleted user's endpoints with their logs, and what audit entries say about them, including other people's
 * entries: an address names the person's host and may contain a token.
 */
export async function forgetEndpoints({ tx }: Unit, userId: number): Promise<void> {
  const removed = await tx
    .delete(webhookEndpoints)
    .where(eq(webhookEndpoints.userId, userId))
    .returning({ id: webhookEndpoints.id })
  // For endpoints that retention removed, only their owner's audit entries tell whose they were.
  const earlier = await tx
    .selectDistinct({ id: auditLog.targetId })
    .from(auditLog)
    .where(
      and(
        eq(auditLog.targetType, 'webhook'),
        eq(auditLog.actorId, userId),
        sql`not exists (select from ${webhookEndpoints} where ${webhookEndpoints.id}::text = ${auditLog.targetId})`
      )
    )
  const ids = [...removed, ...earlier].map(({ id }) => String(id))
  await clearEntriesOf(tx, 'webhook', ids)
}

/** For the export of personal data. */
export async function* exportEndpoints(db: Executor, userId: number): AsyncGenerator<object[]> {
  const rows = await db.select().from(webhookEndpoints).where(ofOwner(userId)).orderBy(webhookEndpoints.id)
  yield rows.map(row => ({ ...fieldsOf(row), created_at: iso(row.createdAt) }))
}
