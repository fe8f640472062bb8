import { z } from 'zod'
import { route } from './route.ts'
import { Time } from './shapes.ts'

export const CHAT_BOT_PROBLEMS = [
  'token_refused',
  'intents_refused',
  'rate_limited',
  'unreachable',
  'silent',
  'server_error',
  'bad_reply',
  'crashed'
] as const
export type ChatBotProblem = (typeof CHAT_BOT_PROBLEMS)[number]

export const ChatBotStatus = z.object({
  /** `off`: no token is set. `absent`: no worker runs it. `waiting`: it failed and retries at `retry_at`. */
  state: z.enum(['off', 'absent', 'connecting', 'connected', 'waiting']),
  since: Time.nullable(),
  /** Its name on the chat platform. */
  name: z.string().nullable(),
  /** Why the last attempt failed; null once it is connected. */
  problem: z.enum(CHAT_BOT_PROBLEMS).nullable(),
  detail: z.string().nullable(),
  retry_at: Time.nullable(),
  /** Why its commands are not registered, which it retries; null if they are. */
  commands_problem: z.string().nullable(),
  /** Configured channels that it cannot read. */
  unreadable_channels: z.array(z.string())
})
export type ChatBotStatus = z.infer<typeof ChatBotStatus>

export const chatBotRoutes = {
  chatBot: route('GET', '/api/settings/chat_bot', {
    summary: 'How the chat bot is doing',
    access: 'admin',
    permission: 'settings.view',
    reply: ChatBotStatus
  })
}
