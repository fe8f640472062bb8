import type { RefusedWebhooks, Settings, WebhookRefusal } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR, MINUTE, iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { like, sql } from '../../infra/db/drizzle.ts'
import { lock } from '../../infra/db/locks.ts'
import { shopBase, webhookHeaders } from '../../integrations/shopify/index.ts'
import { savedAt } from '../settings/index.ts'
import { type Refused, readCheck, recordCheck } from './check-platform.ts'
import { EDITED, RECONCILED } from './events.ts'
import { platformChecks } from './tables.ts'
import { fingerprintOf } from './webhook-secrets.ts'

type Waiting<T> = { value: T | null; since: number; timer: NodeJS.Timeout }

/**
 * Limits writes that outside requests cause: the first one for a name is immediate, later ones within a minute are
 * merged into one at its end. A failed write is logged and repeated a minute later.
 * @param merge combines two values of one name
 */
export function onceAMinute<T>({
  merge,
  write
}: {
  merge: (before: T, next: T) => T
  write: (ctx: AppContext, value: T) => Promise<void>
}): (ctx: AppContext, name: string, value: T) => Promise<void> {
  const waiting = new WeakMap<AppContext, Map<string, Waiting<T>>>()

  async function note(ctx: AppContext, name: string, value: T): Promise<void> {
    const names = waiting.get(ctx) ?? new Map<string, Waiting<T>>()
    waiting.set(ctx, names)
    const before = names.get(name)
    const now = ctx.now().getTime()
    if (before && now - before.since < MINUTE) {
      before.value = before.value === null ? value : merge(before.value, value)
      return
    }
    clearTimeout(before?.timer)
    const opened: Waiting<T> = { value: null, since: now, timer: setTimeout(() => void end(ctx, name), MINUTE) }
    opened.timer.unref()
    names.set(name, opened)
    const whole = before && before.value !== null ? merge(before.value, value) : value
    try {
      await write(ctx, whole)
    } catch (error) {
      ctx.log.warn({ err: error }, 'what webhooks show could not be written down')
      opened.value = opened.value === null ? whole : merge(whole, opened.value)
    }
  }

  async function end(ctx: AppContext, name: string): Promise<void> {
    const names = waiting.get(ctx)
    const ended = names?.get(name)
    names?.delete(name)
    if (ended && ended.value !== null) await note(ctx, name, ended.value)
  }

  return note
}

/** How far back to look, and how late a webhook may be before it counts as missing. */
const WITHIN = 24 * HOUR
const LATE = 15 * MINUTE

/** Payments of the last day that the reconciliation found and no webhook has reported in time. */
export async function missedWebhooks(db: Executor, now: Date): Promise<number> {
  const { rows } = await db.execute<{ missed: number }>(sql`
    select count(*)::int as missed from platform_events found
    where found.event_id like ${`${RECONCILED}%`} and found.topic = 'orders/paid' and found.event_id not like ${`${EDITED}%`}
      and found.received_at > ${new Date(now.getTime() - WITHIN)}
      and found.received_at < ${new Date(now.getTime() - LATE)}
      and not exists (
        select 1 from platform_events arrived
        where arrived.topic = 'orders/paid' and arrived.received_at > ${new Date(now.getTime() - 3 * WITHIN)}
          and arrived.event_id not like ${`${RECONCILED}%`} and arrived.payload ->> 'id' = found.payload ->> 'id')`)
  return rows[0]?.missed ?? 0
}

type StrangerWebhook = {
  kind: WebhookRefusal | 'stranger'
  count: number
  at: Date
  topic: string
  domain: string
  certain: boolean
}

const PREFIX = 'refused_'

const recordOnce = onceAMinute<StrangerWebhook>({
  merge: (before, next) => ({ ...next, count: before.count + next.count }),
  write: (ctx, refusedWebhook) =>
    refusedWebhook.kind === 'stranger'
      ? writeStranger(ctx, refusedWebhook)
      : writeRefusal(ctx, refusedWebhook, refusedWebhook.kind)
})

/**
 * Records a refused webhook. One that names another shop or an unknown topic comes from a stranger. So may any other
 * without a valid signature, because the shop's domain is public; see `isOpen`.
 * @param topics accepted topics, or their prefixes
 * @param certain whether its signature is valid
 */
export async function recordRefusedWebhook(
  ctx: AppContext,
  request: FastifyRequest,
  {
    settings,
    kind,
    topics,
    certain = false
  }: { settings: Settings; kind: WebhookRefusal; topics: readonly string[]; certain?: boolean }
): Promise<void> {
  const headers = webhookHeaders(request.headers)
  const domain = headers?.shopDomain ?? ''
  const isOurs =
    headers !== null &&
    topics.some(start => headers.topic.startsWith(start)) &&
    (await ownDomains(ctx.db, settings.shopify_shop_url)).includes(domain)
  const refusedWebhook: StrangerWebhook = {
    kind: certain || isOurs ? kind : 'stranger',
    count: 1,
    at: ctx.now(),
    topic: shown(headers?.topic ?? ''),
    domain: shown(domain),
    certain
  }
  await recordOnce(ctx, `${refusedWebhook.kind} ${fingerprintOf(settings.shopify_api_secret)}`, refusedWebhook)
}

/** A stranger's text, if it can be a topic or a domain. */
const shown = (text: string): string => (/^[a-z0-9._/-]{1,100}$/i.test(text) ? text : '')

/** The shop's hostname in the settings, and the platform's own domain of it if that is known. */
export async function ownDomains(db: Executor, shopUrl: string): Promise<string[]> {
  const base = shopBase(shopUrl)
  if (!base) return []
  const known = await readCheck(db, 'domain')
  return [new URL(base).hostname, ...(known?.result.shop === base ? [known.result.domain] : [])]
}

async function writeRefusal(ctx: AppContext, refusedWebhook: StrangerWebhook, kind: WebhookRefusal): Promise<void> {
  await command(ctx, SYSTEM, async unit => {
    const { tx } = unit
    const name = `${PREFIX}${kind}` as const
    await lock(tx, 'refusedWebhooks')
    const before = await readCheck(tx, name)
    const taken = await readCheck(tx, 'signed')
    const isNew = !before || (taken !== undefined && taken.at >= before.at)
    // A secret saved in between explains why one webhook was refused and the next one accepted.
    const saved = isNew && before ? await savedAt(tx, 'shopify_api_secret') : null
    const isDisproved = isNew && before && taken && !before.result.certain && (!saved || saved < before.at)
    const at = before && before.at > refusedWebhook.at ? before.at : refusedWebhook.at
    await recordCheck(
      unit,
      name,
      {
        count: refusedWebhook.count + (isNew ? 0 : before.result.count),
        since: isNew ? iso(refusedWebhook.at) : before.result.since,
        topic: refusedWebhook.topic,
        certain: refusedWebhook.certain || (!isNew && before.result.certain),
        disproved: isDisproved ? iso(taken.at) : (before?.result.disproved ?? null)
      },
      at
    )
  })
}

async function writeStranger(ctx: AppContext, { count, at, domain }: StrangerWebhook): Promise<void> {
  await command(ctx, SYSTEM, async unit => {
    await lock(unit.tx, 'refusedWebhooks')
    const before = await readCheck(unit.tx, 'strangers')
    await recordCheck(unit, 'strangers', { count: count + (before?.result.count ?? 0), domain }, at)
  })
}

/** Refused webhooks that need an operator's attention, and strangers' requests. */
export async function readRefused(db: Executor, now: Date): Promise<RefusedWebhooks> {
  const rows = await db
    .select()
    .from(platformChecks)
    .where(like(platformChecks.name, `${PREFIX}%`))
  const taken = await readCheck(db, 'signed')
  const strangers = await readCheck(db, 'strangers')
  const refused = rows
    .map(({ name, at, result }) => ({ kind: name.slice(PREFIX.length) as WebhookRefusal, at, ...(result as Refused) }))
    .filter(one => isOpen(one, taken?.at, now))
    .toSorted((a, b) => b.at.getTime() - a.at.getTime())
  return {
    refused: refused.map(({ kind, at, count, since, topic, certain }) => ({
      kind,
      count,
      since,
      at: iso(at),
      topic,
      certain
    })),
    strangers: strangers ? { ...strangers.result, at: iso(strangers.at) } : null
  }
}

/**
 * The next accepted webhook closes it. If it has shown that such requests came from a stranger, later ones of that day
 * count only after an hour without an accepted webhook, so that a stranger cannot raise the alarm repeatedly.
 */
function isOpen(one: Refused & { at: Date }, taken: Date | undefined, now: Date): boolean {
  if (taken && taken >= one.at) return false
  const isDoubtful = !one.certain && one.disproved !== null && now.getTime() - Date.parse(one.disproved) < DAY
  return !isDoubtful || now.getTime() - Date.parse(one.since) >= HOUR
}

export const countRefused = async (db: Executor, now: Date): Promise<number> =>
  (await readRefused(db, now)).refused.reduce((sum, { count }) => sum + count, 0)
