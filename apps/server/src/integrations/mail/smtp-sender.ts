import { createTransport } from 'nodemailer'
import { startOf } from '../../infra/text.ts'
import { failed, messageId, parseFrom, type Mail, type MailReason, type MailResult } from './mail.ts'

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
  unauthorized: 'refused the username or password',
  timeout: 'did not respond in time',
  network: 'cannot be reached',
  server_error: 'cannot accept the email now',
  rejected: 'refused the email'
}

/**
 * Limit of a whole exchange, as a multiple of `timeoutMs`: a slow server never exceeds the limit of a single reply. It
 * is shorter than a job's limit, so that the mail is not sent twice at once.
 */
const EXCHANGE = 6

/** Sends one mail over one SMTP connection. `secure` is TLS from the first byte (port 465); otherwise STARTTLS. */
export async function sendWithSmtp(mail: Mail, smtp: Smtp, { timeoutMs }: { timeoutMs: number }): Promise<MailResult> {
  if (smtp.host === '') return failed('not_configured', 'Enter the SMTP server.')
  const secure = smtp.secure ?? smtp.port === 465
  let isHandedOver = false
  const signal = AbortSignal.timeout(EXCHANGE * timeoutMs)
  const transport = createTransport({
    host: smtp.host,
    port: smtp.port,
    secure,
    // A password is never sent in the clear, even if the server offers that.
    requireTLS: !secure && Boolean(smtp.username),
    ...(smtp.username ? { auth: { user: smtp.username, pass: smtp.password ?? '' } } : {}),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    // Only this log entry shows that the whole mail was written before a connection broke.
    logger: { info: ({ tnx }: { tnx?: string }) => (isHandedOver ||= tnx === 'message') },
    disableFileAccess: true,
    disableUrlAccess: true
  })
  try {
    const { to, subject, text, html, headers = {} } = mail
    const { name, email } = parseFrom(mail.from)
    const sent = await transport.sendMail({
      to,
      from: { name: name ?? '', address: email },
      subject,
      text,
      html,
      headers,
      messageId: messageId(mail),
      signal
    })
    return { ok: true, id: sent.messageId ?? null }
  } catch (error) {
    const reason = signal.aborted ? 'timeout' : reasonOf(error)
    const text = `The email server at ${smtp.host}:${smtp.port} ${problemOf(reason, error)}`
    return failed(reason, `${text}${serverReply(error)}.`, {
      // The connection broke or fell silent after the whole mail was sent, so the server may have it.
      uncertain: isHandedOver && !isAnswer(error),
      noMailbox: reason === 'rejected' && isNoMailbox(error)
    })
  } finally {
    transport.close()
  }
}

type SmtpError = Error & {
  code?: string
  /** The code of the system or TLS. */
  originalCode?: string
  command?: string
  responseCode?: number
  response?: string
}

function reasonOf(error: unknown): MailReason {
  if (!(error instanceof Error)) return 'server_error'
  const { code = '', command, responseCode } = error as SmtpError
  // Only a refusal of the recipient is final. An operator can correct one of the sender, the quota or the shop.
  if (responseCode !== undefined && command === 'RCPT TO' && NO_SUCH_RECIPIENT.has(responseCode)) return 'rejected'
  if (responseCode === 530 || responseCode === 535) return 'unauthorized'
  return reasons[code] ?? 'server_error'
}

/**
 * RFC 3463: 5.1.x is about the mailbox's address. Without an enhanced code these replies may also refuse the shop
 * (blocklists, relaying), so only a text that names an unknown recipient counts.
 */
function isNoMailbox(error: unknown): boolean {
  const response = error instanceof Error ? ((error as SmtpError).response ?? '') : ''
  const status = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1]
  return status === undefined ? namesUnknownRecipient(response) : /^5\.1\.(1|2|3|6|10)$/.test(status)
}

const RECIPIENT = '(?:user|mailbox|recipient|account|person|(?:recipient|e-?mail) address)'
const UNKNOWN_RECIPIENT = new RegExp(
  [
    `no such (?:local )?(?:${RECIPIENT}|address)`,
    `unknown (?:local )?(?:${RECIPIENT}|part)`,
    `${RECIPIENT}(?: is)? unknown`,
    `${RECIPIENT} (?:does not|doesn[’']t) exist`,
    `${RECIPIENT}(?: is| was| can| could)? ?not (?:be )?found`
  ]
    .map(words => `\\b${words}\\b`)
    .join('|'),
  'i'
)
/** The text is about the shop: a server that verifies senders reports that the shop's own address is unknown. */
const ABOUT_SHOP =
  /\b(?:senders?|verif\w*|relay\w*|helo|ehlo|ip|dns|authenticat\w*|spam\w*|policy|reputation|black ?list\w*|block ?list\w*|your (?:account|host|server|domain))\b/i

/** An address in the reply counts as a mailbox. */
function namesUnknownRecipient(response: string): boolean {
  const said = response.replaceAll(/<[^<>@\s]*@[^<>\s]*>/g, ' mailbox ').replaceAll(/\s+/g, ' ')
  return UNKNOWN_RECIPIENT.test(said) && !ABOUT_SHOP.test(said)
}

const NO_SUCH_RECIPIENT = new Set([550, 551, 553])

const isAnswer = (error: unknown): boolean => error instanceof Error && (error as SmtpError).responseCode !== undefined

/** A description with the code of the system or TLS: 'cannot be reached (ECONNREFUSED)'. */
function problemOf(reason: MailReason, error: unknown): string {
  const code = error instanceof Error ? ((error as SmtpError).originalCode ?? '') : ''
  const text = BAD_CERTIFICATE.test(code)
    ? 'has a certificate that is not trusted'
    : (texts[reason] ?? 'refused the email')
  return code === '' ? text : `${text} (${code})`
}

const BAD_CERTIFICATE = /^(CERT_|DEPTH_|SELF_|UNABLE_|ERR_TLS_CERT)/

/** The server's reply, which names the problem. */
function serverReply(error: unknown): string {
  const response = error instanceof Error ? (error as SmtpError).response : undefined
  return response ? `: ${startOf(response, 300)}` : ''
}
