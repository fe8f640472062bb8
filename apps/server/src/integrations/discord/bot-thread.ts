// The chat bot in its own thread. The library leaves promises unhandled, and a rejection would end the process; here it
// ends only the thread. Ending the thread also closes connections that the library reopens after it was told to stop.
import type { ChatBotProblem } from '@netlet/contract'
import { parentPort, workerData } from 'node:worker_threads'
import type { ChatInputCommandInteraction } from 'discord.js'
import type { BotStart, CallResult, FromBot, RawMessage, ToBot } from './bot-protocol.ts'

const {
  ActionRowBuilder,
  ButtonBuilder,
  ButtonStyle,
  Client,
  Events,
  GatewayIntentBits,
  InteractionResponseType,
  MessageFlags,
  Options,
  Routes
} = await import('discord.js')

if (!parentPort) throw new Error('the bot runs in a thread')
const port = parentPort
const { token, api, commands, connectMs, callMs, registerMs } = workerData as BotStart
const emit = (message: FromBot) => port.postMessage(message, [])

/** Consecutive disconnects after which the bot starts again, with longer pauses than the library's. */
const MOST_DISCONNECTS = 6
/** A shorter wait that the platform requests is waited out within the call. */
const SHORT_WAIT_MS = 5000
/** The longest pause between two tries to register the commands. */
const MOST_PAUSE_MS = 10 * 60_000
/** The longest delay of a timer, about 25 days. A longer one would fire at once. */
const MOST_TIMER_MS = 2 ** 31 - 1
/** How long a command can be answered. */
const COMMAND_MS = 60_000

const client = new Client({
  // These need no privilege, because the bot does not read the text of messages.
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages],
  allowedMentions: { parse: [], repliedUser: true },
  // The bot uses only the events themselves.
  makeCache: Options.cacheWithLimits({
    ...Options.DefaultMakeCacheSettings,
    ApplicationCommandManager: 0,
    ApplicationEmojiManager: 0,
    AutoModerationRuleManager: 0,
    BaseGuildEmojiManager: 0,
    DMMessageManager: 0,
    EntitlementManager: 0,
    GuildBanManager: 0,
    GuildEmojiManager: 0,
    GuildForumThreadManager: 0,
    GuildInviteManager: 0,
    GuildMemberManager: { maxSize: 0, keepOverLimit: member => member.id === member.client.user.id },
    GuildMessageManager: 0,
    GuildScheduledEventManager: 0,
    GuildStickerManager: 0,
    GuildTextThreadManager: 0,
    MessageManager: 0,
    PresenceManager: 0,
    ReactionManager: 0,
    ReactionUserManager: 0,
    StageInstanceManager: 0,
    ThreadManager: 0,
    ThreadMemberManager: 0,
    UserManager: { maxSize: 0, keepOverLimit: user => user.id === user.client.user.id },
    VoiceStateManager: 0
  }),
  waitGuildTimeout: 5000,
  rest: { api, retries: 1, timeout: callMs, rejectOnRateLimit: ({ retryAfter }) => retryAfter > SHORT_WAIT_MS }
})

let failed = false
let disconnects = 0
let deadline: NodeJS.Timeout | undefined
/** Commands that await their answer, with what the answer needs. */
const openCommands = new Map<string, { applicationId: string; answerToken: string }>()

function fail(problem: ChatBotProblem, detail: string, retryAfterMs = 0): void {
  if (failed) return
  failed = true
  clearTimeout(deadline)
  emit({ kind: 'failed', problem, detail, retryAfterMs })
}

/** Starts the platform's deadline for a connection. */
function expectConnection(): void {
  clearTimeout(deadline)
  deadline = setTimeout(() => fail('silent', 'The chat platform did not respond in time.'), connectMs)
}

function connected(): void {
  clearTimeout(deadline)
  disconnects = 0
}

/** Threads of the guilds, because a message does not contain the type of its channel. */
const threads = new Set<unknown>()

function recordThreads(event: string, { id, threads: listed = [] }: RawMessage): void {
  if (event === 'THREAD_CREATE' || event === 'THREAD_UPDATE') threads.add(id)
  if (event === 'THREAD_DELETE') threads.delete(id)
  if (event === 'GUILD_CREATE' || event === 'THREAD_LIST_SYNC')
    for (const thread of listed as RawMessage[]) threads.add(thread['id'])
}

// Raw events keep their order: a message after a new session is reported after it.
client.on(Events.Raw, ({ t, d }: { t: string; d: RawMessage }) => {
  if (t === 'READY') emit({ kind: 'session' })
  recordThreads(t, d)
  if (t === 'MESSAGE_CREATE') emit({ kind: 'message', message: d, inThread: threads.has(d['channel_id']) })
  if (t === 'RESUMED') {
    connected()
    emit({ kind: 'resumed' })
  }
})
client.on(Events.ShardReady, () => {
  connected()
  emit({ kind: 'ready', name: client.user?.displayName ?? '' })
})
// Once per thread, because the platform keeps the commands across sessions.
client.on(Events.ClientReady, () => void register())

/** The bot also works without its commands, so it retries as long as it runs. */
async function register(failures = 0): Promise<void> {
  const wanted = commands.map(({ name, description, descriptionZh }) => ({
    name,
    description,
    descriptionLocalizations: { 'zh-CN': descriptionZh, 'zh-TW': descriptionZh }
  }))
  try {
    await client.application?.commands.set(wanted)
    emit({ kind: 'commands', problem: null })
  } catch (error) {
    if (statusOf(error) === 401) return fail('token_refused', 'The chat platform refused the bot token.')
    emit({ kind: 'commands', problem: messageOf(error) })
    const { retryAfter = 0 } = error as { retryAfter?: number }
    const pause = Math.max(retryAfter, Math.min(MOST_PAUSE_MS, registerMs * 2 ** Math.min(failures, 10)))
    setTimeout(() => void register(failures + 1), Math.min(pause, MOST_TIMER_MS)).unref()
  }
}
client.on(Events.ShardReconnecting, () => {
  disconnects++
  if (disconnects === 1) {
    expectConnection()
    emit({ kind: 'lost' })
  }
  if (disconnects > MOST_DISCONNECTS) fail('unreachable', 'The connection to the chat platform keeps breaking.')
})
client.on(Events.ShardDisconnect, ({ code }) => {
  if (code === 4004) fail('token_refused', 'The chat platform refused the bot token.')
  else if (code === 4013 || code === 4014) fail('intents_refused', `The chat platform refused the intents (${code}).`)
  else fail('bad_reply', `The chat platform ended the connection (${code}).`)
})
client.on(Events.ShardError, error => emit({ kind: 'note', text: messageOf(error) }))
client.on(Events.Error, error => emit({ kind: 'note', text: messageOf(error) }))
client.on(Events.InteractionCreate, interaction => {
  if (interaction.isChatInputCommand()) void ask(interaction)
})

/** Acknowledges a command, so that its answer can follow. */
async function ask({ id, token: answerToken, applicationId, commandName, user, locale }: ChatInputCommandInteraction) {
  const body = {
    type: InteractionResponseType.DeferredChannelMessageWithSource,
    data: { flags: MessageFlags.Ephemeral }
  }
  try {
    // The platform waits 3 s for this acknowledgement, which therefore does not depend on the database.
    const route = Routes.interactionCallback(id, answerToken)
    await callUntilAccepted(() => client.rest.post(route, { body, auth: false }), isEmpty)
    openCommands.set(id, { applicationId, answerToken })
    setTimeout(() => openCommands.delete(id), COMMAND_MS).unref()
    emit({ kind: 'command', id, name: commandName, userId: user.id, locale })
  } catch (error) {
    emit({ kind: 'note', text: `A command could not be answered: ${messageOf(error)}` })
  }
}

/** A proxy's page may also answer 200 although the platform got nothing. One retry, then the call has failed. */
async function callUntilAccepted(
  call: () => Promise<unknown>,
  isAccepted: (answer: unknown) => boolean
): Promise<void> {
  if (isAccepted(await call()) || isAccepted(await call())) return
  throw new Error('The answer is not the chat platform’s.')
}

/** The library returns bytes for what is not JSON. The platform acknowledges with an empty body. */
const isEmpty = (answer: unknown): boolean => answer instanceof ArrayBuffer && answer.byteLength === 0
const isMessage = (answer: unknown): boolean => typeof answer === 'object' && answer !== null && 'id' in answer

port.on('message', (message: ToBot) => {
  void perform(message).then(result => emit({ kind: 'done', call: message.call, ...result }))
})

async function perform(message: ToBot): Promise<CallResult> {
  try {
    return { ok: true, value: await work(message) }
  } catch (error) {
    const status = statusOf(error)
    // An answer has its own token, which expires with the command.
    if (status === 401 && message.kind !== 'answer') fail('token_refused', 'The chat platform refused the bot token.')
    const [problem, , retryAfterMs = 0] = judge(error)
    return { ok: false, status, problem, message: messageOf(error), retryAfterMs }
  }
}

async function work(message: ToBot): Promise<unknown> {
  if (message.kind === 'close') return client.destroy()
  if (message.kind === 'history') {
    const { channelId, after, limit } = message
    const query = new URLSearchParams({ after, limit: String(limit) })
    const found = await client.rest.get(Routes.channelMessages(channelId), { query })
    if (!Array.isArray(found)) throw new Error('The history is no list of messages.')
    return found.toReversed()
  }
  if (message.kind === 'reply') {
    const { channelId, messageId, content } = message
    const message_reference = { message_id: messageId, fail_if_not_exists: false }
    const allowed_mentions = { parse: [], replied_user: true }
    const sent = await client.rest.post(Routes.channelMessages(channelId), {
      body: { content, message_reference, allowed_mentions }
    })
    if (!isMessage(sent)) throw new Error('The answer is no message.')
    return null
  }
  const interaction = openCommands.get(message.id)
  openCommands.delete(message.id)
  if (!interaction) return null
  const { content, link } = message
  const button = link && new ButtonBuilder().setStyle(ButtonStyle.Link).setLabel(link.label).setURL(link.url)
  const row = button && new ActionRowBuilder<InstanceType<typeof ButtonBuilder>>().addComponents(button)
  const body = { content, components: row ? [row.toJSON()] : [], allowed_mentions: { parse: [] } }
  const route = Routes.webhookMessage(interaction.applicationId, interaction.answerToken)
  await callUntilAccepted(() => client.rest.patch(route, { body, auth: false }), isMessage)
  return null
}

const LIMITED = "The chat platform limits the bot's request rate."

function messageOf(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error)
  // The library's rate limit error has no message.
  return said === '' && isLimit(error) ? LIMITED : said.slice(0, 300)
}

const isLimit = (error: unknown): boolean => typeof (error as { retryAfter?: unknown }).retryAfter === 'number'

function statusOf(error: unknown): number | null {
  const status = error instanceof Error && 'status' in error ? error.status : null
  return typeof status === 'number' ? status : null
}

/** The HTTP status of a gateway that refused the connection. The library has it only in the message. */
const gatewayStatus = (text: string): number | null => {
  const [, status] = /^Unexpected server response: (\d+)/.exec(text) ?? []
  return status === undefined ? null : Number(status)
}

/** Why the bot's first connection failed. */
function judge(error: unknown): [ChatBotProblem, string, number?] {
  const { name, code, retryAfter } = error as { name?: string; code?: string; retryAfter?: number }
  const text = messageOf(error)
  const status = statusOf(error) ?? gatewayStatus(text)
  if (code === 'TokenInvalid' || status === 401) return ['token_refused', 'The chat platform refused the bot token.']
  if (code === 'DisallowedIntents' || code === 'InvalidIntents')
    return ['intents_refused', 'The chat platform refused the intents.']
  if (isLimit(error) || status === 429) return ['rate_limited', LIMITED, retryAfter]
  if (text.startsWith('Not enough sessions remaining')) return ['rate_limited', text, waitUntilReset(text)]
  if (name === 'AbortError') return ['silent', 'The chat platform did not respond in time.']
  if (status !== null && status >= 500) return ['server_error', `The chat platform has an internal error (${status}).`]
  if (status !== null) return ['bad_reply', `The chat platform refused a call (${status}): ${text}`]
  if (/fetch failed|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|other side closed|terminated/i.test(`${code} ${text}`))
    return ['unreachable', 'The chat platform cannot be reached.']
  return ['bad_reply', `The chat platform sent an unexpected reply: ${text}`]
}

/** Milliseconds until the platform allows more session starts, from the library's message. */
function waitUntilReset(text: string): number {
  const at = Date.parse(/resets at (\S+)/.exec(text)?.[1] ?? '')
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now())
}

expectConnection()
// The library strips the prefix `Bot`, and would strip the same characters from a token.
client.login(`Bot ${token}`).catch((error: unknown) => fail(...judge(error)))
