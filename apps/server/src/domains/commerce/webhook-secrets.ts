import type { Settings, WebhookSecrets } from '@netlet/contract'
import { desc, gt, inArray, lte } from '../../infra/db/drizzle.ts'
import { shopBase, verifyWebhook } from '../../integrations/shopify/index.ts'
import { SYSTEM, type Actor } from '../../infra/actor.ts'
import { HOUR, iso, isoOrNull } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { hashToken } from '../../infra/secrets.ts'
import { readSettings } from '../settings/index.ts'
import { readCheck } from './check-platform.ts'
import { formerWebhookSecrets } from './tables.ts'

/** How many former secrets to keep: a mistyped one saved in between must not displace the one that still signs. */
const MOST = 3

/** The SHA-256 of a webhook's secret. */
export const fingerprintOf = (secret: string): string => hashToken(secret).toString('hex')

type Reader = Pick<AppContext, 'secrets'> & { db: Executor; now: Date }

/** The former secrets that are still accepted, newest first. */
async function formerSecrets({ db, secrets, now }: Reader): Promise<{ id: number; secret: string; endsAt: Date }[]> {
  const rows = await db
    .select()
    .from(formerWebhookSecrets)
    .where(gt(formerWebhookSecrets.endsAt, now))
    .orderBy(desc(formerWebhookSecrets.id))
  return rows.flatMap(({ id, secret, endsAt }) => {
    try {
      return [{ id, secret: secrets.open(secret), endsAt }]
    } catch {
      // Sealed under another APP_SECRET, for example in a restored database. It is useless.
      return []
    }
  })
}

/**
 * The secret that signed a webhook: the current one or an accepted former one, which the platform uses until it is
 * revoked there. Null: none of them, or none is saved.
 */
export async function signerOf(
  ctx: AppContext,
  { shopify_api_secret: present }: Settings,
  { body, signature }: { body: Uint8Array; signature: string }
): Promise<string | null> {
  if (present === '') return null
  if (verifyWebhook(body, signature, present)) return present
  const former = await formerSecrets({ db: ctx.db, secrets: ctx.secrets, now: ctx.now() })
  return former.find(({ secret }) => verifyWebhook(body, signature, secret))?.secret ?? null
}

/**
 * Keeps the previous secret for the configured time. If the shop changed or the secret was deleted, all former secrets
 * end instead.
 */
export async function keepFormerSecret(
  unit: Unit,
  secrets: AppContext['secrets'],
  { before, after }: { before: Settings; after: Settings }
): Promise<void> {
  const { tx, now } = unit
  const isOtherShop = shopBase(before.shopify_shop_url) !== shopBase(after.shopify_shop_url)
  if (isOtherShop || after.shopify_api_secret === '') return void (await tx.delete(formerWebhookSecrets))
  if (before.shopify_api_secret === after.shopify_api_secret) return
  const hours = after.webhook_secret_overlap_hours
  if (before.shopify_api_secret !== '' && hours > 0)
    await tx.insert(formerWebhookSecrets).values({
      secret: secrets.seal(before.shopify_api_secret),
      endsAt: new Date(now.getTime() + hours * HOUR),
      createdAt: now
    })
  const kept = await formerSecrets({ db: tx, secrets, now })
  const isSpare = ({ secret }: { secret: string }, at: number) =>
    secret === after.shopify_api_secret || kept.findIndex(one => one.secret === secret) < at
  const needed = kept.filter((one, at) => !isSpare(one, at)).slice(0, MOST)
  const gone = kept.filter(one => !needed.includes(one)).map(({ id }) => id)
  if (gone.length > 0) await tx.delete(formerWebhookSecrets).where(inArray(formerWebhookSecrets.id, gone))
}

export async function eraseEndedSecrets(ctx: AppContext): Promise<void> {
  await command(ctx, SYSTEM, async unit => {
    const ended = await unit.tx
      .delete(formerWebhookSecrets)
      .where(lte(formerWebhookSecrets.endsAt, unit.now))
      .returning({ id: formerWebhookSecrets.id })
    if (ended.length > 0) unit.publish('platform_event')
  })
}

export async function endFormerSecrets(ctx: AppContext, by: Actor): Promise<Result<WebhookSecrets>> {
  return command(ctx, by, async unit => {
    const ended = await unit.tx.delete(formerWebhookSecrets).returning({ id: formerWebhookSecrets.id })
    if (ended.length > 0) {
      unit.audit('settings.end_former_secrets', 'webhook-secret', {
        before: { count: ended.length },
        after: { count: 0 }
      })
      unit.publish('platform_event')
    }
    return ok(await readWebhookSecrets({ ...ctx, db: unit.tx, now: () => unit.now }))
  })
}

/** Which secret signed the last accepted webhook, and until when former ones are accepted. */
export async function readWebhookSecrets(
  ctx: Pick<AppContext, 'secrets' | 'now'> & { db: Executor },
  settings?: Settings
): Promise<WebhookSecrets> {
  const { db, secrets } = ctx
  const { shopify_api_secret: present } = settings ?? (await readSettings(db, secrets))
  const former = await formerSecrets({ db, secrets, now: ctx.now() })
  const signed = await readCheck(db, 'signed')
  const by = (fingerprint: string) => {
    if (present !== '' && fingerprint === fingerprintOf(present)) return 'present'
    return former.some(({ secret }) => fingerprintOf(secret) === fingerprint) ? 'former' : 'ended'
  }
  const ends = former.map(({ endsAt }) => endsAt.getTime())
  return {
    signed: signed ? { at: iso(signed.at), topic: signed.result.topic, by: by(signed.result.secret) } : null,
    former_until: isoOrNull(ends.length > 0 ? new Date(Math.max(...ends)) : null)
  }
}
