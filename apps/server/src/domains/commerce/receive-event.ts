import { refuse } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import { verifyWebhook, webhookHeaders } from '../../integrations/shopify/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { readSettings } from '../settings/index.ts'
import { noteCheck } from './checks.ts'
import { storeEvent } from './events.ts'

/**
 * Takes a webhook of the platform: verifies its signature over the raw bytes, stores the event, and leaves the work to
 * a job, all within the platform's patience. An event that is known already changes nothing and is a success.
 * @param expected the topics that are taken here, or what they start with; another one is a bad request
 */
export async function receiveEvent(
  ctx: AppContext,
  request: FastifyRequest,
  expected: readonly string[]
): Promise<Result<null>> {
  const { shopify_api_secret: secret } = await readSettings(ctx.db, ctx.secrets)
  const signature = request.headers['x-shopify-hmac-sha256']
  const signed =
    request.rawBody !== null && typeof signature === 'string' && verifyWebhook(request.rawBody, signature, secret)
  if (!signed) {
    if (typeof signature === 'string' && secret !== '') await noteBadSignature(ctx, request, secret)
    return refuse('bad_signature')
  }
  const headers = webhookHeaders(request.headers)
  if (!headers || !request.body || !expected.some(start => headers.topic.startsWith(start)))
    return refuse('bad_request')
  const { topic } = headers
  // What happened once on the platform may be told under several topics, all with one id.
  const event = { eventId: `${topic} ${headers.eventId}`, topic, payload: request.body }
  await command(ctx, SYSTEM, unit => storeEvent(unit, event))
  return done
}

/** When this process last wrote one down for a shop, and for which secret. */
const noted = new WeakMap<AppContext, { at: number; secret: string }>()

/** Writes down that a signature was wrong, once a minute at most for a secret: whoever wants to can send such requests. */
async function noteBadSignature(ctx: AppContext, request: FastifyRequest, secret: string): Promise<void> {
  const now = ctx.now().getTime()
  const last = noted.get(ctx)
  if (last?.secret === secret && now - last.at < MINUTE) return
  noted.set(ctx, { at: now, secret })
  const topic = request.headers['x-shopify-topic']
  await noteCheck(ctx, 'bad_signature', { topic: typeof topic === 'string' ? topic.slice(0, 100) : '' })
}
