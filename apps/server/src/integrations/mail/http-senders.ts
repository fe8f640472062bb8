import { startOf } from '../../infra/text.ts'
import { type HttpReply, exchange, parseJson, retryAfterMs } from '../http-exchange.ts'
import { type Mail, type MailFailure, type MailResult, failed, fromHeader, messageId, parseFrom } from './mail.ts'

type Limits = { fetch: typeof fetch; timeoutMs: number }

/** SendGrid's v3 API: success is 202 without a body, with the id in a header. */
export async function sendWithSendgrid(
  mail: Mail,
  { apiKey, baseUrl = 'https://api.sendgrid.com' }: { apiKey: string; baseUrl?: string },
  limits: Limits
): Promise<MailResult> {
  if (apiKey === '') return failed('not_configured', 'Enter the SendGrid API key under Web Settings, Email.')
  const { name, email } = parseFrom(mail.from)
  const reply = await exchange(
    'SendGrid',
    `${baseUrl}/v3/mail/send`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        personalizations: [{ to: [{ email: mail.to }] }],
        from: name ? { email, name } : { email },
        subject: mail.subject,
        // SendGrid requires plain text before HTML.
        content: [
          { type: 'text/plain', value: mail.text },
          { type: 'text/html', value: mail.html }
        ],
        headers: { ...mail.headers, 'Message-ID': messageId(mail) },
        custom_args: { idempotency_key: mail.idempotencyKey }
      })
    },
    limits
  )
  if (!reply.ok) return failed(reply.reason, reply.message, { uncertain: reply.sent })
  const id = reply.headers.get('x-message-id')
  if (reply.status === 202 && (id !== null || reply.text.trim() === '')) return { ok: true, id }
  return refused('SendGrid', reply)
}

/** Mailgun's messages API: a multipart form; success is 200 with the id in JSON. */
export async function sendWithMailgun(
  mail: Mail,
  { apiKey, domain, baseUrl = 'https://api.mailgun.net' }: { apiKey: string; domain: string; baseUrl?: string },
  limits: Limits
): Promise<MailResult> {
  if (apiKey === '' || domain === '')
    return failed('not_configured', 'Enter the Mailgun API key and the sender domain under Web Settings, Email.')
  const form = new FormData()
  form.set('from', fromHeader(mail.from))
  form.set('to', mail.to)
  form.set('subject', mail.subject)
  form.set('text', mail.text)
  form.set('html', mail.html)
  for (const [name, value] of Object.entries(mail.headers ?? {})) form.set(`h:${name}`, value)
  form.set('h:Message-Id', messageId(mail))
  form.set('v:idempotency_key', mail.idempotencyKey)
  const reply = await exchange(
    'Mailgun',
    `${baseUrl}/v3/${encodeURIComponent(domain)}/messages`,
    {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`api:${apiKey}`).toString('base64')}` },
      body: form
    },
    limits
  )
  if (!reply.ok) return failed(reply.reason, reply.message, { uncertain: reply.sent })
  const body = reply.status === 200 ? parseJson(reply.text) : undefined
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : null
  return typeof id === 'string' && id !== '' ? { ok: true, id } : refused('Mailgun', reply)
}

/** Any other answer. A proxy may answer 200 with its own page: the service did not get the mail. */
function refused(service: string, { status, headers, text }: HttpReply): MailFailure {
  if (status < 400) {
    const isPage = status >= 300 || /^\s*</.test(text)
    const said = `What responds in place of ${service} did not accept the email as expected (HTTP ${status}).`
    return failed('server_error', said, { uncertain: !isPage })
  }
  if (status === 401 || status === 403)
    return failed('unauthorized', `${service} refused the API key. Check it under Web Settings, Email.`)
  if (status === 429)
    return { ...failed('throttled', `${service} limits the request rate.`), retryAfterMs: waitMsOf(headers) }
  if (status >= 500) return failed('server_error', `${service} has an internal error (HTTP ${status}).`)
  const { reason, field } = reasonIn(text)
  const said = `${service} refused the email (HTTP ${status}): ${reason}`
  return failed(status === 400 && isAboutRecipient(reason, field) ? 'rejected' : 'server_error', said)
}

/** The wait that a 429 requests: seconds or a date, or SendGrid's time when its window starts again. */
function waitMsOf(headers: Headers): number | null {
  const resetMs = Number(headers.get('x-ratelimit-reset') ?? Number.NaN) * 1000 - Date.now()
  const wait = retryAfterMs(headers.get('retry-after'), new Date(), Infinity) || resetMs
  return wait > 0 ? wait : null
}

/** SendGrid names the field; Mailgun says "'to' parameter is not a valid address". */
const isAboutRecipient = (reason: string, field: string | null): boolean =>
  field === null ? /^['"]?to['"]? parameter|recipient/i.test(reason) : /^personalizations.*\bto\b/.test(field)

/**
 * SendGrid's `errors[0].message` or Mailgun's `message`, which explain, for example, that the sender is not verified.
 */
function reasonIn(text: string): { reason: string; field: string | null } {
  const body = parseJson(text) as
    | { message?: unknown; errors?: { message?: unknown; field?: unknown }[] }
    | null
    | undefined
  const first = body?.errors?.[0]
  const reason = first?.message ?? body?.message
  return {
    reason: typeof reason === 'string' ? startOf(reason, 300) : 'no reason given',
    field: typeof first?.field === 'string' ? first.field : null
  }
}
