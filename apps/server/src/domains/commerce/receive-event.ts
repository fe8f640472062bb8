import { refuse } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import { parseExact, webhookHeaders } from '../../integrations/shopify/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { DEEPEST_JSON, isDeeperThan } from '../../infra/http/json-depth.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { readSettings } from '../settings/index.ts'
import { recordCheck } from './check-platform.ts'
import { storeEvent } from './events.ts'
import { recordRefusedWebhook, onceAMinute, ownDomains } from './refused-webhooks.ts'
import { fingerprintOf, signerOf } from './webhook-secrets.ts'

/**
 * Accepts a webhook of the platform: verifies its signature over the raw bytes, stores the event and leaves the work to
 * a job, so that it answers in time. A delivery that comes again changes nothing and succeeds.
 * @param topics accepted topics, or their prefixes; another one is a bad request
 */
export async function receiveEvent(
  ctx: AppContext,
  request: FastifyRequest,
  topics: readonly string[]
): Promise<Result<null>> {
  const { signature, signer, settings } = await readSignature(ctx, request)
  if (signer === null) {
    const kind = settings.shopify_api_secret === '' ? 'no_secret' : 'signature'
    if (signature !== null) await recordRefusedWebhook(ctx, request, { settings, kind, topics })
    return refuse('bad_signature')
  }
  const headers = webhookHeaders(request.headers)
  const refused = (kind: 'other_shop' | 'unreadable' | 'topic') =>
    recordRefusedWebhook(ctx, request, { settings, kind, topics, certain: true })
  if (headers?.shopDomain && (await isOtherShop(ctx, settings.shopify_shop_url, headers.shopDomain))) {
    await refused('other_shop')
    return refuse('other_shop')
  }
  const payload = parsed(request.rawBody)
  if (!headers || !payload) {
    await refused('unreadable')
    return refuse('bad_request')
  }
  const { topic } = headers
  if (!topics.some(start => topic.startsWith(start))) {
    await refused('topic')
    return refuse('bad_request')
  }
  // Not the platform's own event id: all deliveries of one action share that one, such as of two orders refunded at once.
  const event = { eventId: `${topic} ${headers.webhookId}`, topic, payload }
  await command(ctx, SYSTEM, unit => storeEvent(unit, event))
  const signed = { topic, secret: fingerprintOf(signer), version: headers.apiVersion }
  await noteSigned(ctx, `${signed.secret} ${signed.version}`, { ...signed, at: ctx.now() })
  return done
}

/** The body's JSON, with ids as text; null: there is none. */
function parsed(body: Buffer | null): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body ?? undefined)
    return isDeeperThan(text, DEEPEST_JSON) ? null : parseExact(text)
  } catch {
    return null
  }
}

/**
 * Records why a webhook's body could not be read; `receiveEvent` never sees it.
 * @param status 413: too large; 415: no JSON
 */
export async function recordUnreadable(
  ctx: AppContext,
  request: FastifyRequest,
  { status, topics }: { status: number; topics: readonly string[] }
): Promise<void> {
  // Otherwise the connection broke, and the platform sends it again.
  if (status !== 413 && status !== 415) return
  const { settings, signer } = await readSignature(ctx, request)
  const kind = status === 413 ? 'too_large' : 'unreadable'
  await recordRefusedWebhook(ctx, request, { settings, kind, topics, certain: signer !== null })
}

async function readSignature(ctx: AppContext, { headers, rawBody }: FastifyRequest) {
  const settings = await readSettings(ctx.db, ctx.secrets)
  const header = headers['x-shopify-hmac-sha256']
  const signature = typeof header === 'string' ? header : null
  const signer =
    rawBody !== null && signature !== null ? await signerOf(ctx, settings, { body: rawBody, signature }) : null
  return { settings, signature, signer }
}

/** An app may be installed in several shops and signs all their webhooks with one secret. */
async function isOtherShop(ctx: AppContext, shopUrl: string, domain: string): Promise<boolean> {
  const own = await ownDomains(ctx.db, shopUrl)
  // Before the platform has told us its own domain of the shop, any domain may be right. It may also be a custom
  // domain, so only another myshopify.com domain is another shop.
  return own.length > 1 && domain.endsWith('.myshopify.com') && !own.includes(domain)
}

type Signed = { topic: string; secret: string; version: string | null; at: Date }

const noteSigned = onceAMinute<Signed>({
  merge: (_before, next) => next,
  write: (ctx, { at, ...signed }) => command(ctx, SYSTEM, unit => recordCheck(unit, 'signed', signed, at))
})
