import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import { readChatBot } from './lease.ts'

export function chatBotRoutes(mount: Mount, ctx: AppContext): void {
  mount(routes.settings.chatBot, async () => ok(await readChatBot(ctx)))
}
