import { startOf } from '../../infra/text.ts'
import { exchange, parseJson, type HttpReply } from '../http-exchange.ts'
import { failed, messageId, parseFrom, type Mail, type MailFailure, type MailResult } from './mail.ts'

type Limits = { fetch: typeof fetch; timeoutMs: number }

/** SendGrid's v3 API: 202 and the id in a header. */
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
        // The platform wants plain text before HTML.
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
  if (reply.status < 200 || reply.status >= 300) return refused('SendGrid', reply)
  return { ok: true, id: reply.headers.get('x-message-id') }
}

/** Mailgun's messages API: a multipart form, 200 and the id in JSON. */
export async function sendWithMailgun(
  mail: Mail,
  { apiKey, domain, baseUrl = 'https://api.mailgun.net' }: { apiKey: string; domain: string; baseUrl?: string },
  limits: Limits
): Promise<MailResult> {
  if (apiKey === '' || domain === '')
    return failed('not_configured', 'Enter the Mailgun API key and the sender domain under Web Settings, Email.')
  const form = new FormData()
  form.set('from', mail.from)
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
  if (reply.status < 200 || reply.status >= 300) return refused('Mailgun', reply)
  const body = parseJson(reply.text)
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : null
  return { ok: true, id: typeof id === 'string' ? id : null }
}

function refused(service: string, { status, text }: HttpReply): MailFailure {
  if (status === 401 || status === 403)
    return failed('unauthorized', `${service} refused the API key. Check it under Web Settings, Email.`)
  if (status === 429) return failed('throttled', `${service} is limiting our calls.`)
  if (status >= 500) return failed('server_error', `${service} has a fault of its own (HTTP ${status}).`)
  const { reason, field } = reasonIn(text)
  const said = `${service} refused the mail (HTTP ${status}): ${reason}`
  return failed(status === 400 && isAboutRecipient(reason, field) ? 'rejected' : 'server_error', said)
}

/** SendGrid names the field; Mailgun says "'to' parameter is not a valid address". */
const isAboutRecipient = (reason: string, field: string | null): boolean =>
  field === null ? /^['"]?to['"]? parameter|recipient/i.test(reason) : /^personalizations.*\bto\b/.test(field)

/** SendGrid's `errors[0].message`, Mailgun's `message`; both explain, e.g. that the sender is not verified. */
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
