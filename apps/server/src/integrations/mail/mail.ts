import { createHash } from 'node:crypto'

/** `from` is an address or 'Name <address>'. `idempotencyKey` names the cause of the mail, such as 'reminder:42'. */
export type Mail = {
  to: string
  from: string
  subject: string
  text: string
  html: string
  idempotencyKey: string
  /** Additional headers, such as List-Unsubscribe. */
  headers?: Record<string, string>
}

export type MailReason =
  | 'not_configured'
  | 'unauthorized'
  | 'rejected'
  | 'throttled'
  | 'timeout'
  | 'network'
  | 'server_error'

/**
 * `rejected` is final: the service refuses this recipient. An operator can correct other refusals, so they are worth a
 * retry if `retryable`. `message` contains no key.
 */
export type MailFailure = {
  ok: false
  reason: MailReason
  message: string
  retryable: boolean
  /** The mail was sent but not acknowledged, so the service may have it. */
  uncertain: boolean
  /** The recipient's mail server says that the mailbox does not exist. */
  noMailbox: boolean
  /** The wait that the service requests. */
  retryAfterMs?: number | null
}

/** `id` is the service's id of the mail, if it gave one. */
export type MailResult = { ok: true; id: string | null } | MailFailure

const retryable: ReadonlySet<MailReason> = new Set(['throttled', 'timeout', 'network', 'server_error'])

export const failed = (
  reason: MailReason,
  message: string,
  { uncertain = false, noMailbox = false } = {}
): MailFailure => ({
  ok: false,
  reason,
  message,
  retryable: retryable.has(reason),
  uncertain,
  noMailbox
})

/** 'Netlet <shop@example.com>' → name and address. The name may be quoted. */
export function parseFrom(from: string): { name: string | null; email: string } {
  const [, written = '', email = from] = /^(.*)<([^<>]+)>\s*$/s.exec(from) ?? []
  const name = written.trim().replace(/^"(.*)"$/s, (_, quoted: string) => quoted.replaceAll(/\\(.)/gs, '$1'))
  return { name: name || null, email: email.trim() }
}

/** A sender as a header. The name is quoted if a colon or comma would start a group or another address. */
export function fromHeader(from: string): string {
  const { name, email } = parseFrom(from)
  if (name === null) return email
  const isPlain = !/[()<>[\]:;@\\,."]/.test(name)
  return `${isPlain ? name : `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`} <${email}>`
}

/** The same for each try of a mail. It is a hash, so it does not reveal the key. */
export function messageId(mail: Mail): string {
  const domain = parseFrom(mail.from).email.split('@')[1] ?? 'localhost'
  return `<${createHash('sha256').update(mail.idempotencyKey).digest('hex').slice(0, 32)}@${domain}>`
}
