import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'
import { z } from 'zod'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { startOf, storableText } from '../../infra/text.ts'
import { parseJson } from '../http-exchange.ts'
import { Message, Name } from '../foreign-texts.ts'

/**
 * A mail service's report about a mail that it had accepted. `bounced`: the address takes no mail. `refused`: its
 * server did not take this one, which says nothing about the next. `complained`: the recipient marked it as spam.
 */
export type MailEvent = {
  happened: 'bounced' | 'refused' | 'complained'
  address: string
  /** The idempotency key of the mail; null if this shop did not send it. */
  key: string | null
  at: Date
  reason: string
}

type Headers = Record<string, string | string[] | undefined>

/**
 * `bad_signature`: the signature is missing, wrong or too old. Other kinds of events are left out. `token` identifies a
 * report whose signature does not cover its content, so that it counts once.
 */
export type ReadEvents =
  | { ok: true; events: MailEvent[]; token: string | null }
  | { ok: false; reason: 'bad_signature' | 'bad_request' }

/** Undelivered reports are repeated for hours, and clocks differ by minutes. */
const OLDEST = 12 * HOUR
const AHEAD = 5 * MINUTE

/** Was it signed recently? @param timestamp seconds, as the service writes them */
function isOfToday(timestamp: string, now: Date): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false
  const age = now.getTime() - Number(timestamp) * 1000
  return age <= OLDEST && age >= -AHEAD
}

const badSignature = { ok: false, reason: 'bad_signature' } as const
const badRequest = { ok: false, reason: 'bad_request' } as const
const REASON_LENGTH = 300

const SendgridEvent = z.object({
  email: z.string().min(3).max(320),
  event: Name,
  /** For `bounce`: 'blocked' refuses only this mail. */
  type: Name.optional(),
  timestamp: z.number(),
  reason: Message.optional(),
  idempotency_key: Name.optional()
})

/**
 * SendGrid's event webhook: a list of events, signed with ECDSA over the time and the raw body.
 * @param publicKey as SendGrid shows it: SPKI in base64
 */
export function readSendgridEvents(body: Buffer, headers: Headers, publicKey: string, now: Date): ReadEvents {
  const signature = headers['x-twilio-email-event-webhook-signature']
  const timestamp = headers['x-twilio-email-event-webhook-timestamp']
  if (typeof signature !== 'string' || typeof timestamp !== 'string') return badSignature
  if (!isSignedBy(publicKey, Buffer.concat([Buffer.from(timestamp), body]), signature)) return badSignature
  if (!isOfToday(timestamp, now)) return badSignature
  const list = z.array(z.unknown()).safeParse(parseJson(body.toString('utf8')))
  if (!list.success) return badRequest
  const events = list.data.flatMap(item => {
    const event = SendgridEvent.safeParse(item)
    const happened = event.success ? sendgridKind(event.data) : null
    if (!event.success || !happened) return []
    const { email, timestamp: seconds, reason = '', idempotency_key: key = null } = event.data
    return [{ happened, address: email, key, at: new Date(seconds * 1000), reason: startOf(reason, REASON_LENGTH) }]
  })
  return { ok: true, events: events.filter(isPossible), token: null }
}

function sendgridKind({ event, type, reason = '' }: z.infer<typeof SendgridEvent>): MailEvent['happened'] | null {
  if (event === 'bounce') return type === 'blocked' ? 'refused' : 'bounced'
  if (event === 'spamreport') return 'complained'
  if (event !== 'dropped') return null
  // SendGrid keeps its own suppression lists, and drops mails to addresses on them.
  if (/^bounced address/i.test(reason)) return 'bounced'
  return /^spam reporting address/i.test(reason) ? 'complained' : 'refused'
}

function isSignedBy(publicKey: string, signed: Buffer, signature: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
    return verify('sha256', signed, key, Buffer.from(signature, 'base64'))
  } catch {
    // The key or the signature is malformed.
    return false
  }
}

const MailgunSignature = z.object({
  signature: z.object({ timestamp: Name, token: Name, signature: Name })
})
const MailgunReport = z.object({
  'event-data': z.object({
    event: Name,
    severity: Name.optional(),
    reason: Message.optional(),
    recipient: z.string().min(3).max(320).optional(),
    timestamp: z.number(),
    'delivery-status': z.object({ message: Message.nullish(), description: Message.nullish() }).partial().optional(),
    'user-variables': z.record(z.string(), z.unknown()).optional()
  })
})

/** Mailgun's webhook: one event. The account's signing key signs time and token with HMAC. */
export function readMailgunEvents(body: unknown, signingKey: string, now: Date): ReadEvents {
  const signed = MailgunSignature.safeParse(body)
  if (!signed.success || signingKey === '' || !isSignedWith(signingKey, signed.data.signature)) return badSignature
  const { timestamp, token } = signed.data.signature
  if (!isOfToday(timestamp, now)) return badSignature
  const report = MailgunReport.safeParse(body)
  if (!report.success) return badRequest
  const event = report.data['event-data']
  const happened = mailgunKind(event)
  if (!happened || !event.recipient) return { ok: true, events: [], token }
  const status = event['delivery-status']
  const key = event['user-variables']?.['idempotency_key']
  const read: MailEvent = {
    happened,
    address: event.recipient,
    key: typeof key === 'string' ? key : null,
    at: new Date(event.timestamp * 1000),
    reason: startOf(status?.message || status?.description || event.reason || '', REASON_LENGTH)
  }
  return { ok: true, events: [read].filter(isPossible), token }
}

function isSignedWith(
  key: string,
  { timestamp, token, signature }: Record<'timestamp' | 'token' | 'signature', string>
) {
  const expected = createHmac('sha256', key).update(timestamp).update(token).digest()
  const sent = Buffer.from(signature, 'hex')
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}

function mailgunKind({
  event,
  severity,
  reason
}: z.infer<typeof MailgunReport>['event-data']): MailEvent['happened'] | null {
  if (event === 'complained') return 'complained'
  // Mailgun retries after a temporary failure.
  if (event !== 'failed' || severity === 'temporary') return null
  if (reason === 'suppress-complaint') return 'complained'
  return reason === 'bounce' || reason === 'suppress-bounce' ? 'bounced' : 'refused'
}

/** Can the database store the address, the key and the time? */
const isPossible = ({ address, key, at }: MailEvent): boolean =>
  !Number.isNaN(at.getTime()) && [address, key ?? ''].every(text => storableText(text) === text)
