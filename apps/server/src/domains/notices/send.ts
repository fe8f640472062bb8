import type { NoticeFailure } from '@netlet/contract'
import { and, eq } from '../../infra/db/drizzle.ts'
import { Webhook } from 'standardwebhooks'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { startOf } from '../../infra/text.ts'
import { postToPublicAddress, type PublicFailure, type PublicReply } from '../../integrations/public-http/index.ts'
import { retryAfterMs } from '../../integrations/http-exchange.ts'
import { blockedAmong, enqueueMail } from '../mail/index.ts'
import { claimSend, isOf, type Claimed } from './claim.ts'
import { chatPayload, severityWord, webhookPayload, worded, type Message } from './message.ts'
import { type NoticePorts, readPolicy, readRules } from './rules.ts'
import { noticeChannels, noticeSends } from './tables.ts'
import { enqueueSend } from './notifier.ts'

const TIMEOUT_MS = 10_000
const DETAIL = 500
/** How many of several notices a message names; a chat takes 4,000 characters. */
const MOST_NAMED = 20

/** Pauses between tries, about a day in all. Then the message has failed, and the console shows it. */
const PAUSES = [10_000, 30_000, 2 * MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 8 * HOUR]
/** A chat cannot recognize a repeat, so a message that it may already have is posted this often at most. */
const UNCERTAIN_TRIES = 3
/** The longest accepted `Retry-After`. */
const MAX_RETRY_AFTER = 6 * HOUR

type Sending = Pick<NoticePorts, 'operators' | 'ownsAddresses' | 'resolve' | 'timeoutMs'>

/** Sends one message and records the result. A job that runs twice sends it once. */
export async function sendNotice(ctx: AppContext, ports: Sending, sendId: number, jobId: string): Promise<void> {
  const claimed = await claimSend(ctx, sendId, jobId)
  if (!claimed) return
  const message = await messageOf(ctx, claimed)
  if (claimed.channel.kind === 'mail') return mail(ctx, ports, claimed, message)
  const outcome = await post(ctx, ports, claimed, message)
  await command(ctx, SYSTEM, unit => record(unit, claimed, outcome))
}

async function messageOf({ db, config, now }: AppContext, { send, notices: all }: Claimed): Promise<Message> {
  const { telling } = send
  const notices = telling === 'digest' ? all : all.slice(0, MOST_NAMED)
  const more = send.more + all.length - notices.length
  const { time_zone: timeZone } = await readRules(db)
  const severity = notices[0]?.severity ?? 'info'
  return { telling, severity, at: now(), notices, more, timeZone, publicUrl: config.publicUrl }
}

/** Enqueues mails, whose log makes each one unique and records its outcome. */
const mail = (ctx: AppContext, { operators }: Sending, claimed: Claimed, message: Message): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    const { send, channel } = claimed
    const chosen = await operators(unit.tx, channel.userIds)
    if (chosen.length === 0) return record(unit, claimed, { failure: 'no_recipient', isFinal: true })
    const dead = await blockedAmong(
      unit.tx,
      'bounced',
      chosen.map(({ email }) => email)
    )
    const people = chosen.filter(({ email }) => !dead.has(email.toLowerCase()))
    if (people.length === 0) return record(unit, claimed, { failure: 'blocked_recipients', isFinal: true })
    const mailKeys = people.map(({ id }) => `notice:${send.key}:${id}`)
    for (const [at, { email, language }] of people.entries()) {
      const { title, text, url, link } = worded(message, language)
      const isPlain = message.telling === 'digest' || message.telling === 'test' || message.telling === 'ended'
      const subject = isPlain ? title : `[${severityWord(message.severity, language)}] ${title}`
      enqueueMail(unit, {
        to: email,
        language,
        template: 'notice',
        data: { subject, heading: title, text, url, link },
        key: mailKeys[at] ?? ''
      })
    }
    await unit.tx
      .update(noticeSends)
      .set({ mailKeys })
      .where(and(isOf(send.id), eq(noticeSends.state, 'waiting')))
    await record(unit, claimed, null)
  })

type Outcome = {
  failure: NoticeFailure
  status?: number | null
  detail?: string | null
  /** A retry would fail in the same way. */
  isFinal?: boolean
  /** The receiver may have got it. */
  isUncertain?: boolean
  /** Milliseconds that the receiver asks to wait. */
  wish?: number
} | null

async function post(ctx: AppContext, ports: Sending, claimed: Claimed, message: Message): Promise<Outcome> {
  const { send, channel } = claimed
  const request = requestOf(ctx, claimed, message)
  if (!request) return { failure: 'unreadable_target', isFinal: true }
  const reply = await postToPublicAddress(request.url, {
    headers: request.headers,
    body: request.body,
    policy: readPolicy(ctx, ports),
    timeoutMs: ports.timeoutMs ?? TIMEOUT_MS,
    ...(ports.resolve ? { resolve: ports.resolve } : {})
  })
  ctx.log.info({ send: send.id, channel: channel.id, status: reply.status }, 'notice posted')
  return outcomeOf(reply, channel.kind === 'chat', ctx.now())
}

/** Undefined if a sealed value cannot be opened. */
function requestOf({ secrets, now }: AppContext, { send, channel }: Claimed, message: Message) {
  try {
    if (!channel.target) return undefined
    const url = new URL(secrets.open(channel.target))
    const chat = channel.kind === 'chat'
    const body = JSON.stringify((chat ? chatPayload : webhookPayload)(message, channel.language))
    const headers: Record<string, string> = { 'content-type': 'application/json', 'user-agent': 'netlet-notices' }
    if (channel.secret) {
      const id = `notice_${send.id}`
      const at = now()
      headers['webhook-id'] = id
      headers['webhook-timestamp'] = String(Math.floor(at.getTime() / 1000))
      headers['webhook-signature'] = new Webhook(secrets.open(channel.secret)).sign(id, at, body)
    }
    return { url, body, headers }
  } catch {
    return undefined
  }
}

/** These may pass. All other 4xx mean that the request itself is wrong. */
const WORTH_ANOTHER_TRY = new Set([408, 425, 429])

/** The result of a reply; null: delivered. */
function outcomeOf(reply: PublicReply | PublicFailure, isChat: boolean, now: Date): Outcome {
  const { status } = reply
  if (!reply.ok) {
    const { failure, detail } = reply
    const isFinal =
      failure === 'not_https' || failure === 'port' || failure === 'not_public' || failure === 'own_address'
    return { failure, detail, status, isFinal, isUncertain: failure === 'timeout' || failure === 'cut_off' }
  }
  const detail = startOf(reply.answer.trim(), DETAIL)
  if (reply.status >= 200 && reply.status < 300) {
    // A proxy's or a login's page also answers 200, but delivers nothing.
    const isTaken = !isChat || reply.status === 204 || detail === '' || detail.startsWith('{')
    return isTaken ? null : { failure: 'no_chat', status, detail }
  }
  const isFinal = reply.status < 500 && !WORTH_ANOTHER_TRY.has(reply.status)
  return { failure: 'status', status, detail, isFinal, wish: retryAfterMs(reply.retryAfter, now, MAX_RETRY_AFTER) }
}

/** Records the result of a try and enqueues the next one if needed. */
async function record(unit: Unit, { send, channel }: Claimed, outcome: Outcome): Promise<void> {
  const { tx, now } = unit
  const { failure, status = null, detail = null, isFinal = false, isUncertain = false, wish = 0 } = outcome ?? {}
  const most = isUncertain && channel.kind === 'chat' ? UNCERTAIN_TRIES : PAUSES.length + 1
  // A test reports its failure at once, without retries.
  const gaveUp = isFinal || send.telling === 'test' || send.tries >= most
  const pause = Math.max(wish, PAUSES[send.tries - 1] ?? 0)
  const state = !failure ? 'sent' : gaveUp ? 'failed' : 'waiting'
  const ended = state === 'waiting' ? { dueAt: new Date(now.getTime() + pause) } : { endedAt: now }
  const written = await tx
    .update(noticeSends)
    .set({
      state,
      status,
      failure: failure ?? null,
      detail: detail && startOf(detail, DETAIL),
      tries: send.tries,
      claimedAt: null,
      ...ended
    })
    .where(and(isOf(send.id), eq(noticeSends.state, 'waiting')))
    .returning({ id: noticeSends.id, noticeId: noticeSends.noticeId })
  // It was skipped or ended in the meantime, and that result stays.
  if (!written.some(({ id }) => id === send.id)) return
  if (state === 'waiting') enqueueSend(unit, send.id, pause)
  await tx
    .update(noticeChannels)
    .set(
      failure
        ? { failure, failingSince: channel.failingSince ?? now }
        : { failure: null, failingSince: null, lastSentAt: now }
    )
    .where(eq(noticeChannels.id, channel.id))
  for (const { noticeId } of written) unit.publish('notice', noticeId ?? undefined)
  unit.publish('notice_channel', channel.id)
}
