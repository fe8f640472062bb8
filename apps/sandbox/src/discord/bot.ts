import { createHmac, randomUUID } from 'node:crypto'
import type { ChatUser } from './discord.ts'

export type BotReport = { user: ChatUser; channelId: string; eventId?: string; at?: string; wrongSignature?: boolean }
/** The shop's answer; its status is null if there was none. */
export type BotReply = { event_id: string; status: number | null; body: unknown }

/** An operator's own bot: it reports messages to the shop's webhook, signed with the bot's token. */
export function createBot(options: { shopUrl: string; token: () => string; fetch: typeof fetch; now: () => number }) {
  return async ({ user, channelId, eventId, at, wrongSignature }: BotReport): Promise<BotReply> => {
    const event_id = eventId ?? randomUUID()
    const body = JSON.stringify({
      event_id,
      discord_id: user.id,
      channel_id: channelId,
      at: at ?? new Date(options.now()).toISOString()
    })
    const key = wrongSignature ? `${options.token()}-wrong` : options.token()
    try {
      const response = await options.fetch(`${options.shopUrl}/api/users/bot_webhook`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-signature': createHmac('sha256', key).update(body).digest('hex')
        },
        body,
        signal: AbortSignal.timeout(5000)
      })
      return { event_id, status: response.status, body: await response.json().catch(() => null) }
    } catch {
      return { event_id, status: null, body: null }
    }
  }
}

export type Bot = ReturnType<typeof createBot>
