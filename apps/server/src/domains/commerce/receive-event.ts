import { refuse } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import { verifyWebhook, webhookHeaders } from '../../integrations/shopify/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { readSettings } from '../settings/index.ts'
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
  const settings = await readSettings(ctx.db, ctx.secrets)
  const signature = request.headers['x-shopify-hmac-sha256']
  const signed =
    request.rawBody !== null &&
    typeof signature === 'string' &&
    verifyWebhook(request.rawBody, signature, settings.shopify_api_secret)
  if (!signed) return refuse('bad_signature')
  const headers = webhookHeaders(request.headers)
  if (!headers || !request.body || !expected.some(start => headers.topic.startsWith(start)))
    return refuse('bad_request')
  const { topic } = headers
  // What happened once on the platform may be told under several topics, all with one id.
  const event = { eventId: `${topic} ${headers.eventId}`, topic, payload: request.body }
  await command(ctx, SYSTEM, unit => storeEvent(unit, event))
  return done
}
