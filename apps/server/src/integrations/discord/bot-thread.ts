// The chat bot in a thread of its own. The library drops promises that may fail, and a failure of such a one ends the
// whole process; here it ends the thread. It also ends, with the thread, connections that the library opens anew after
// it was told to stop.
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
const tell = (message: FromBot) => port.postMessage(message, [])

/** Lost connections in a row after which the bot begins anew, more slowly than the library tries. */
const MOST_DISCONNECTS = 6
/** A wait that the platform asks for and that is not longer is waited for within a call. */
const SHORT_WAIT_MS = 5000
/** The longest pause between two tries to register the commands. */
const MOST_PAUSE_MS = 10 * 60_000
/** The longest wait of a timer, about 25 days: one that is set to more ends at once. */
const MOST_TIMER_MS = 2 ** 31 - 1
/** How long a command's answer can be given. */
const COMMAND_MS = 60_000

const client = new Client({
  // Neither is privileged: what was written is not read.
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages],
  allowedMentions: { parse: [], repliedUser: true },
  // Everything that the bot needs comes with what it is told.
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
/** Commands whose answer follows: what it is sent with. */
const asked = new Map<string, { applicationId: string; answerToken: string }>()

function fail(problem: ChatBotProblem, detail: string, retryAfterMs = 0): void {
  if (failed) return
  failed = true
  clearTimeout(deadline)
  tell({ kind: 'failed', problem, detail, retryAfterMs })
}

/** Gives the platform until then to let the bot in. */
function expectConnection(): void {
  clearTimeout(deadline)
  deadline = setTimeout(() => fail('silent', 'The chat platform did not answer in time.'), connectMs)
}

function connected(): void {
  clearTimeout(deadline)
  disconnects = 0
}

/** Threads of the guilds: a message does not say what kind of channel it is in. */
const threads = new Set<unknown>()

function noteThreads(event: string, { id, threads: listed = [] }: RawMessage): void {
  if (event === 'THREAD_CREATE' || event === 'THREAD_UPDATE') threads.add(id)
  if (event === 'THREAD_DELETE') threads.delete(id)
  if (event === 'GUILD_CREATE' || event === 'THREAD_LIST_SYNC')
    for (const thread of listed as RawMessage[]) threads.add(thread['id'])
}

// Raw, since the order counts: a message that follows a new session is told after it.
client.on(Events.Raw, ({ t, d }: { t: string; d: RawMessage }) => {
  if (t === 'READY') tell({ kind: 'session' })
  noteThreads(t, d)
  if (t === 'MESSAGE_CREATE') tell({ kind: 'message', message: d, inThread: threads.has(d['channel_id']) })
  if (t === 'RESUMED') {
    connected()
    tell({ kind: 'resumed' })
  }
})
client.on(Events.ShardReady, () => {
  connected()
  tell({ kind: 'ready', name: client.user?.displayName ?? '' })
})
// Once a thread: the platform keeps the commands over all sessions.
client.on(Events.ClientReady, () => void register())

/** Without its commands the bot works all the same: it tries again for as long as it runs. */
async function register(failures = 0): Promise<void> {
  const wanted = commands.map(({ name, description, descriptionZh }) => ({
    name,
    description,
    descriptionLocalizations: { 'zh-CN': descriptionZh, 'zh-TW': descriptionZh }
  }))
  try {
    await client.application?.commands.set(wanted)
    tell({ kind: 'commands', problem: null })
  } catch (error) {
    if (statusOf(error) === 401) return fail('token_refused', 'The chat platform refused the bot token.')
    tell({ kind: 'commands', problem: messageOf(error) })
    const { retryAfter = 0 } = error as { retryAfter?: number }
    const pause = Math.max(retryAfter, Math.min(MOST_PAUSE_MS, registerMs * 2 ** Math.min(failures, 10)))
    setTimeout(() => void register(failures + 1), Math.min(pause, MOST_TIMER_MS)).unref()
  }
}
client.on(Events.ShardReconnecting, () => {
  disconnects++
  if (disconnects === 1) {
    expectConnection()
    tell({ kind: 'lost' })
  }
  if (disconnects > MOST_DISCONNECTS) fail('unreachable', 'The connection to the chat platform keeps breaking.')
})
client.on(Events.ShardDisconnect, ({ code }) => {
  if (code === 4004) fail('token_refused', 'The chat platform refused the bot token.')
  else if (code === 4013 || code === 4014) fail('intents_refused', `The chat platform refused the intents (${code}).`)
  else fail('bad_reply', `The chat platform ended the connection (${code}).`)
})
client.on(Events.ShardError, error => tell({ kind: 'note', text: messageOf(error) }))
client.on(Events.Error, error => tell({ kind: 'note', text: messageOf(error) }))
client.on(Events.InteractionCreate, interaction => {
  if (interaction.isChatInputCommand()) void ask(interaction)
})

/** Says to the platform that the answer follows. */
async function ask({ id, token: answerToken, applicationId, commandName, user, locale }: ChatInputCommandInteraction) {
  const body = {
    type: InteractionResponseType.DeferredChannelMessageWithSource,
    data: { flags: MessageFlags.Ephemeral }
  }
  try {
    // The platform waits 3 s for a first answer, whatever the database does.
    const route = Routes.interactionCallback(id, answerToken)
    await untilTaken(() => client.rest.post(route, { body, auth: false }), isEmpty)
    asked.set(id, { applicationId, answerToken })
    setTimeout(() => asked.delete(id), COMMAND_MS).unref()
    tell({ kind: 'command', id, name: commandName, userId: user.id, locale })
  } catch (error) {
    tell({ kind: 'note', text: `A command could not be answered: ${messageOf(error)}` })
  }
}

/** A page of something in between answers 200 as well, and nobody was told anything: once more, and then it has failed. */
async function untilTaken(call: () => Promise<unknown>, isTaken: (answer: unknown) => boolean): Promise<void> {
  if (isTaken(await call()) || isTaken(await call())) return
  throw new Error('The answer is not the chat platform’s.')
}

/** The library gives what is no JSON as bytes: a first answer is taken with none. */
const isEmpty = (answer: unknown): boolean => answer instanceof ArrayBuffer && answer.byteLength === 0
const isMessage = (answer: unknown): boolean => typeof answer === 'object' && answer !== null && 'id' in answer

port.on('message', (message: ToBot) => {
  void perform(message).then(result => tell({ kind: 'done', call: message.call, ...result }))
})

async function perform(message: ToBot): Promise<CallResult> {
  try {
    return { ok: true, value: await work(message) }
  } catch (error) {
    const status = statusOf(error)
    // An answer goes by a token of its own, which ends with the command.
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
  const interaction = asked.get(message.id)
  asked.delete(message.id)
  if (!interaction) return null
  const { content, link } = message
  const button = link && new ButtonBuilder().setStyle(ButtonStyle.Link).setLabel(link.label).setURL(link.url)
  const row = button && new ActionRowBuilder<InstanceType<typeof ButtonBuilder>>().addComponents(button)
  const body = { content, components: row ? [row.toJSON()] : [], allowed_mentions: { parse: [] } }
  const route = Routes.webhookMessage(interaction.applicationId, interaction.answerToken)
  await untilTaken(() => client.rest.patch(route, { body, auth: false }), isMessage)
  return null
}

const LIMITED = 'The chat platform is limiting the calls of the bot.'

function messageOf(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error)
  // The library's error of a limit has no words.
  return said === '' && isLimit(error) ? LIMITED : said.slice(0, 300)
}

const isLimit = (error: unknown): boolean => typeof (error as { retryAfter?: unknown }).retryAfter === 'number'

function statusOf(error: unknown): number | null {
  const status = error instanceof Error && 'status' in error ? error.status : null
  return typeof status === 'number' ? status : null
}

/** HTTP status that the gateway answered in place of a connection; the library has it in words alone. */
const gatewayStatus = (text: string): number | null => {
  const [, status] = /^Unexpected server response: (\d+)/.exec(text) ?? []
  return status === undefined ? null : Number(status)
}

/** What kept the bot from its first connection. */
function judge(error: unknown): [ChatBotProblem, string, number?] {
  const { name, code, retryAfter } = error as { name?: string; code?: string; retryAfter?: number }
  const text = messageOf(error)
  const status = statusOf(error) ?? gatewayStatus(text)
  if (code === 'TokenInvalid' || status === 401) return ['token_refused', 'The chat platform refused the bot token.']
  if (code === 'DisallowedIntents' || code === 'InvalidIntents')
    return ['intents_refused', 'The chat platform refused the intents.']
  if (isLimit(error) || status === 429) return ['rate_limited', LIMITED, retryAfter]
  if (text.startsWith('Not enough sessions remaining')) return ['rate_limited', text, restOf(text)]
  if (name === 'AbortError') return ['silent', 'The chat platform did not answer in time.']
  if (status !== null && status >= 500) return ['server_error', `The chat platform has a fault of its own (${status}).`]
  if (status !== null) return ['bad_reply', `The chat platform refused a call (${status}): ${text}`]
  if (/fetch failed|ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|other side closed|terminated/i.test(`${code} ${text}`))
    return ['unreachable', 'The chat platform cannot be reached.']
  return ['bad_reply', `The chat platform's reply was not understood: ${text}`]
}

/** Of the library's words about the platform's limit of starts: milliseconds until it is over. */
function restOf(text: string): number {
  const at = Date.parse(/resets at (\S+)/.exec(text)?.[1] ?? '')
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now())
}

expectConnection()
// The library takes the word off, and would take off a token's own beginning.
client.login(`Bot ${token}`).catch((error: unknown) => fail(...judge(error)))
