import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { openPlatform } from './platform.ts'
import { registerWebhooksQueue } from './queues.ts'

/** Asks that the platform be told where to send its webhooks. */
export const requestWebhooks = (unit: Unit): void => unit.jobs.send(registerWebhooksQueue, {}, { key: 'webhooks' })

/**
 * Tells the platform where to send payments and product changes; repeating it changes nothing. A platform that refuses
 * is not asked again: an administrator has to correct the settings; saving them asks again.
 * @throws where another try may help
 */
export async function registerWebhooks(ctx: Pick<AppContext, 'config' | 'db' | 'log' | 'secrets'>): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  const registered = await platform.data.registerWebhooks(ctx.config.publicUrl)
  if (registered.ok) {
    ctx.log.info({ queue: registerWebhooksQueue.name, ...registered.value }, 'webhooks are registered')
    return
  }
  if (registered.retryable) throw new Error(registered.message)
  ctx.log.warn({ queue: registerWebhooksQueue.name, reason: registered.reason }, registered.message)
}
