import { createTransport } from 'nodemailer'
import { failed, messageId, type Mail, type MailReason, type MailResult } from './mail.ts'

type Smtp = { host: string; port: number; secure?: boolean; username?: string; password?: string }

const reasons: Record<string, MailReason> = {
  EAUTH: 'unauthorized',
  ENOAUTH: 'unauthorized',
  ETIMEDOUT: 'timeout',
  ECONNECTION: 'network',
  ESOCKET: 'network',
  EDNS: 'network',
  ETLS: 'network'
}
const texts: Record<string, string> = {
  unauthorized: 'refused the user name or password',
  timeout: 'did not answer in time',
  network: 'cannot be reached',
  server_error: 'cannot take the mail now',
  rejected: 'refused the mail'
}

/** One mail over one SMTP connection. `secure` is TLS from the first byte (port 465); otherwise STARTTLS. */
export async function sendWithSmtp(mail: Mail, smtp: Smtp, { timeoutMs }: { timeoutMs: number }): Promise<MailResult> {
  if (smtp.host === '') return failed('not_configured', 'Enter the SMTP server.')
  const secure = smtp.secure ?? smtp.port === 465
  const transport = createTransport({
    host: smtp.host,
    port: smtp.port,
    secure,
    // A password never crosses the wire in the clear, whatever the server offers.
    requireTLS: !secure && Boolean(smtp.username),
    ...(smtp.username ? { auth: { user: smtp.username, pass: smtp.password ?? '' } } : {}),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true
  })
  try {
    const { to, from, subject, text, html, headers = {} } = mail
    const sent = await transport.sendMail({ to, from, subject, text, html, headers, messageId: messageId(mail) })
    return { ok: true, id: sent.messageId ?? null }
  } catch (error) {
    const reason = reasonOf(error)
    return failed(reason, `The mail server at ${smtp.host}:${smtp.port} ${texts[reason] ?? 'refused the mail'}.`)
  } finally {
    transport.close()
  }
}

function reasonOf(error: unknown): MailReason {
  if (!(error instanceof Error)) return 'rejected'
  // SMTP's own word first: 4xx means later, 5xx means never.
  if ('responseCode' in error && typeof error.responseCode === 'number' && error.responseCode < 500)
    return 'server_error'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return reasons[code] ?? 'rejected'
}
