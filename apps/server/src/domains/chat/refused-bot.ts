import type { AppContext } from '../../infra/context.ts'
import type { Found } from '../notices/index.ts'
import { readChatBot } from './status.ts'

/** The chat bot's token if the platform refuses it. */
export async function findRefusedBot(ctx: Pick<AppContext, 'db' | 'secrets'>): Promise<Found[]> {
  const { state, problem, detail } = await readChatBot(ctx)
  if (state === 'off' || problem !== 'token_refused') return []
  return [{ subject: 'chat', words: 'token', params: { service: 'Chat bot', message: detail ?? '–' } }]
}
