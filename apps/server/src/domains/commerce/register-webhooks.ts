import { eq } from '../../infra/db/drizzle.ts'
import { shopBase, type WebhookRegistration } from '../../integrations/shopify/index.ts'
import { SYSTEM, type Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { ok, type Result } from '../../infra/result.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { readSettings } from '../settings/index.ts'
import { saveCheck, readCheck, recordCheck } from './check-platform.ts'
import { openPlatform, platformRefusal } from './platform.ts'
import { registerWebhooksQueue } from './queues.ts'
import { webhookAddresses } from './tables.ts'

/** Enqueues the registration of webhooks. */
export const requestWebhooks = (unit: Unit): void => unit.jobs.send(registerWebhooksQueue, {}, { key: 'webhooks' })

/**
 * Compares the platform's subscriptions with those that we need and restores missing ones; idempotent. It leaves other
 * installations' subscriptions alone and notifies the administrators. If the platform refuses, the next try is an hour
 * later.
 * @throws if a retry may help
 */
export async function registerWebhooks(ctx: AppContext): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  const { shop, earlier } = await knownAddresses(ctx)
  const registered = await platform.data.registerWebhooks({ callbackBase: ctx.config.publicUrl, earlier })
  if (registered.ok) return record(ctx, shop, registered.value, { known: earlier.length > 0 })
  await saveCheck(ctx, 'webhooks', { error: registered.message })
  if (registered.retryable) throw new Error(registered.message)
  ctx.log.warn({ queue: registerWebhooksQueue.name, reason: registered.reason }, registered.message)
}

/** Moves all other installations' subscriptions to this one, at an administrator's request. */
export async function takeOverWebhooks(ctx: AppContext, by: Actor): Promise<Result<{ taken: string[] }>> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const { shop, earlier } = await knownAddresses(ctx)
  const installation = { callbackBase: ctx.config.publicUrl, earlier }
  const before = await platform.data.inspectWebhooks(installation)
  if (!before.ok) return platformRefusal(before)
  const registered = await platform.data.registerWebhooks(installation, { takeOver: true })
  if (!registered.ok) return platformRefusal(registered)
  const taken = before.value.foreign
  await command(ctx, by, async unit => {
    unit.audit('settings.take_over_webhooks', 'webhooks', {
      before: { origins: taken },
      after: { origin: ctx.config.publicUrl }
    })
    await remember(unit, shop, ctx.config.publicUrl, registered.value)
  })
  return ok({ taken })
}

/** Recorded by both the job and the takeover. */
async function remember(
  unit: Unit,
  shop: string,
  address: string,
  { wanted, present, foreign, blocked, created, updated }: WebhookRegistration
): Promise<void> {
  if (!blocked)
    await unit.tx.insert(webhookAddresses).values({ shop, address, createdAt: unit.now }).onConflictDoNothing()
  await recordCheck(unit, 'webhooks', { wanted, present, foreign, blocked, restored: created + updated })
  if (foreign.length === 0) await recordCheck(unit, 'foreign_told', { origins: [] })
}

async function record(
  ctx: AppContext,
  shop: string,
  registered: WebhookRegistration,
  { known }: { known: boolean }
): Promise<void> {
  const { created, updated, kept, foreign, blocked } = registered
  const about = { queue: registerWebhooksQueue.name, created, updated, kept, foreign, blocked }
  if (foreign.length > 0) ctx.log.warn(about, 'another installation has webhooks on the same platform keys')
  else if (known && created > 0) ctx.log.warn(about, 'the platform had dropped webhooks: they are restored')
  else ctx.log.info(about, 'webhooks are registered')
  await command(ctx, SYSTEM, async unit => {
    await remember(unit, shop, ctx.config.publicUrl, registered)
    const notified = (await readCheck(unit.tx, 'foreign_told'))?.result.origins ?? []
    if (foreign.every(origin => notified.includes(origin))) return
    await recordCheck(unit, 'foreign_told', { origins: foreign })
    await notifyAdmins(unit, {
      words: blocked ? 'foreign_webhooks_only' : 'foreign_webhooks',
      params: { origins: foreign.join(', '), url: ctx.config.publicUrl },
      key: `webhooks:foreign:${iso(unit.now)}`,
      cause: 'webhooks',
      about: 'foreign'
    })
  })
}

/** The platform's shop, and the addresses at which this installation has registered there. */
async function knownAddresses(ctx: Pick<AppContext, 'db' | 'secrets'>): Promise<{ shop: string; earlier: string[] }> {
  const { shopify_shop_url } = await readSettings(ctx.db, ctx.secrets)
  const shop = shopBase(shopify_shop_url) ?? ''
  const rows = await ctx.db
    .select({ address: webhookAddresses.address })
    .from(webhookAddresses)
    .where(eq(webhookAddresses.shop, shop))
  return { shop, earlier: rows.map(row => row.address) }
}
