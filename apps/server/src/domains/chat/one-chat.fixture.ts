import { eq } from '../../infra/db/drizzle.ts'
import { pointRecords } from '../rewards/tables.ts'
import { CHANNEL, startChat, TOKEN, type Chat } from './chat-bot.fixture.ts'
import { chatBot } from './tables.ts'

/** A chat whose messages earn one coin each, with a limit above any test's number. */
export let chat: Chat

export async function openChat(): Promise<void> {
  chat = await startChat()
  await chat.settings({
    discord_bot_token: TOKEN,
    discord_bot_channels: CHANNEL,
    discord_bot_points_per_message: 1,
    discord_bot_max_points_per_day: 1000
  })
}

/** No bot runs, the platform works, and no connection was made. */
export async function resetChat(): Promise<void> {
  await chat.stopBots()
  await chat.call('POST', '/faults', { kind: 'none' })
  await chat.call('POST', '/gateway', {
    mute: false,
    refuse_intents: false,
    forgetful: false,
    heartbeat_ms: 41_250,
    next: null
  })
  await chat.shop.ctx.db.delete(chatBot)
}

let names = 0
export async function newMember(): Promise<{ name: string; id: number }> {
  names += 1
  const name = `member.${names}`
  return { name, id: await chat.member(name) }
}

/** How many grants a user has. */
export const recordsOf = (id: number): Promise<number> =>
  chat.shop.ctx.db.$count(pointRecords, eq(pointRecords.userId, id))
