import { createHash } from 'node:crypto'

/** `from` is an address or 'Name <address>'. `idempotencyKey` names the cause of the mail, e.g. 'reminder:42'. */
export type Mail = {
  to: string
  from: string
  subject: string
  text: string
  html: string
  idempotencyKey: string
  /** Further headers, such as List-Unsubscribe. */
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
 * `rejected` is final: the service refuses this recipient. Whatever else it refuses may be a wrong set-up, which somebody
 * corrects. Only `retryable` failures are worth another try without a person. `message` holds no key.
 */
export type MailFailure = {
  ok: false
  reason: MailReason
  message: string
  retryable: boolean
  /** The service may have taken the mail all the same: it was handed over, and no answer came. */
  uncertain: boolean
  /** The recipient's own mail server says that there is no such mailbox. */
  noMailbox: boolean
  /** How long the service asks us to stay away. */
  retryAfterMs?: number | null
}
/** `id` is the service's name for the mail, where it gave one. */
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

/** 'Netlet <shop@example.com>' → name and address. The name may stand in quotes. */
export function parseFrom(from: string): { name: string | null; email: string } {
  const [, written = '', email = from] = /^(.*)<([^<>]+)>\s*$/s.exec(from) ?? []
  const name = written.trim().replace(/^"(.*)"$/s, (_, quoted: string) => quoted.replaceAll(/\\(.)/gs, '$1'))
  return { name: name || null, email: email.trim() }
}

/** A sender as a header: in a name without quotes a colon or comma would begin a group or another address. */
export function fromHeader(from: string): string {
  const { name, email } = parseFrom(from)
  if (name === null) return email
  const isPlain = !/[()<>[\]:;@\\,."]/.test(name)
  return `${isPlain ? name : `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`} <${email}>`
}

/** The same for each try of the same mail, and says nothing about what the key was. */
export function messageId(mail: Mail): string {
  const domain = parseFrom(mail.from).email.split('@')[1] ?? 'localhost'
  return `<${createHash('sha256').update(mail.idempotencyKey).digest('hex').slice(0, 32)}@${domain}>`
}
