import { refuse } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import { verifyWebhook, webhookHeaders } from '../../integrations/shopify/index.ts'
import type { JobQueue } from '../../infra/jobs.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { readSettings } from '../settings/index.ts'
import { recordPlatformEvent } from './platform-events.ts'

/**
 * Takes a webhook of the platform: verifies its signature over the raw bytes, notes the event, and leaves the work to a
 * job, all within the platform's patience. An event that is known already changes nothing and is a success.
 * @param topic what the event's topic has to start with; another one is a bad request
 */
export async function receivePlatformEvent(
  ctx: Pick<AppContext, 'db' | 'jobs' | 'secrets'>,
  request: FastifyRequest,
  { topic: expected, queue }: { topic: string; queue: JobQueue<{ eventId: string }> }
): Promise<Result<null>> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  const signature = request.headers['x-shopify-hmac-sha256']
  const signed =
    request.rawBody !== null &&
    typeof signature === 'string' &&
    verifyWebhook(request.rawBody, signature, settings.shopify_api_secret)
  if (!signed) return refuse('bad_signature')
  const headers = webhookHeaders(request.headers)
  if (!headers?.topic.startsWith(expected) || !request.body) return refuse('bad_request')
  const { topic } = headers
  // What happened once on the platform may be told under several topics, all with one id.
  const eventId = `${topic} ${headers.eventId}`
  await ctx.db.transaction(async tx => {
    const isNew = await recordPlatformEvent(tx, { eventId, topic, payload: request.body })
    if (isNew) await ctx.jobs.send(tx, queue, { eventId }, { key: eventId })
  })
  return done
}
