import { z } from 'zod'
import { LANGUAGES } from './languages.ts'
import { listQuery, page } from './list.ts'
import { route } from './route.ts'
import { Done, IdParams, Time } from './shapes.ts'
import { MAIL_STATES } from './states.ts'

/** The kinds of mails. `security` includes codes; `support` is answers; `operator` goes to administrators. */
export const MAIL_KINDS = ['security', 'payments', 'proxies', 'expiry', 'operator', 'support'] as const
export type MailKind = (typeof MAIL_KINDS)[number]

/** Mails that a customer can switch off. */
export const OPTIONAL_MAILS = ['payments', 'proxies', 'expiry'] as const satisfies readonly MailKind[]
export type OptionalMail = (typeof OPTIONAL_MAILS)[number]

/** Why a mail was not sent, or not yet: it became unnecessary, or the last attempt failed. */
export const MAIL_FAILURES = [
  'code_expired',
  'no_such_address',
  'switched_off',
  'not_configured',
  'unauthorized',
  'rejected',
  'throttled',
  'timeout',
  'network',
  'server_error',
  'bounced',
  'complained'
] as const
export type MailFailureCode = (typeof MAIL_FAILURES)[number]

/** Why an address is blocked: it does not exist, or its owner reported our mail as spam. */
export const BLOCK_CAUSES = ['bounced', 'complained'] as const
export type BlockCause = (typeof BLOCK_CAUSES)[number]

/** Who reported it: a mail service, or the recipient's mail server. */
export const BLOCK_SOURCES = ['sendgrid', 'mailgun', 'smtp'] as const
export type BlockSource = (typeof BLOCK_SOURCES)[number]

export const BlockedAddress = z.object({
  id: z.number(),
  address: z.string(),
  cause: z.enum(BLOCK_CAUSES),
  /** In the mail service's words. */
  reason: z.string(),
  source: z.enum(BLOCK_SOURCES),
  at: Time
})
export type BlockedAddress = z.infer<typeof BlockedAddress>

/** `unknown`: the name server did not answer. */
export const DOMAIN_RECORD_STATES = ['ok', 'missing', 'wrong', 'unknown'] as const

/** A DNS record: its name and its current value. */
const DomainRecord = z.object({
  state: z.enum(DOMAIN_RECORD_STATES),
  name: z.string(),
  found: z.string().nullable()
})

/** The DNS records by which receivers judge mail from the sending domain. */
export const SenderCheck = z.object({
  domain: z.string(),
  /** What SPF must include for the mail service; null if that depends on the server. */
  include: z.string().nullable(),
  spf: DomainRecord,
  dkim: DomainRecord,
  dmarc: DomainRecord
})
export type SenderCheck = z.infer<typeof SenderCheck>

/** The mails that a customer receives. */
export const MailChoices = z.object({ payments: z.boolean(), proxies: z.boolean(), expiry: z.boolean() })
export type MailChoices = z.infer<typeof MailChoices>

/** With the reason why the user's address is blocked; null if it is not. */
export const MailSettings = MailChoices.extend({ blocked: z.enum(BLOCK_CAUSES).nullable() })
export type MailSettings = z.infer<typeof MailSettings>

/**
 * Whether a mail can be sent again: `possible`; `waits`, not sent yet; `needless`, unwanted or undeliverable;
 * `not_kept`, it contained a code or personal link, or its text was deleted.
 */
export const SEND_AGAIN = ['possible', 'waits', 'needless', 'not_kept'] as const
export type SendAgain = (typeof SEND_AGAIN)[number]

/** How often a sent mail can be sent again. */
export const MOST_COPIES = 5
/** Minutes between two sends of the same mail. */
export const COPY_PAUSE_MINUTES = 10

export const SentMail = z.object({
  id: z.number(),
  to: z.string(),
  template: z.string(),
  kind: z.enum(MAIL_KINDS),
  language: z.enum(LANGUAGES),
  state: z.enum(MAIL_STATES),
  /** Why it was not sent, or not yet: in English, with the mail service's words; and its code, which old rows lack. */
  error: z.string().nullable(),
  error_code: z.enum(MAIL_FAILURES).nullable(),
  /** The mail service's id for it. */
  provider_id: z.string().nullable(),
  created_at: Time,
  sent_at: Time.nullable(),
  send_again: z.enum(SEND_AGAIN)
})
export type SentMail = z.infer<typeof SentMail>

/** A mail as given to the mail service, with secrets and personal links masked. */
export const MailContent = z.object({ subject: z.string(), text: z.string(), html: z.string() })
export type MailContent = z.infer<typeof MailContent>

/** `content` is null if nothing was sent, or it is no longer stored. */
export const MailDetail = SentMail.extend({ content: MailContent.nullable() })
export type MailDetail = z.infer<typeof MailDetail>

export const MailPreview = z.object({
  template: z.string(),
  kind: z.enum(MAIL_KINDS),
  language: z.enum(LANGUAGES),
  subject: z.string(),
  html: z.string(),
  text: z.string()
})
export type MailPreview = z.infer<typeof MailPreview>

const UnsubscribeQuery = z.object({ token: z.string().max(1000).default('') })

export const mail = {
  choices: route('GET', '/api/users/u/mail_settings/', {
    summary: 'The emails that you get',
    access: 'user',
    reply: MailSettings
  }),
  saveChoices: route('PUT', '/api/users/u/mail_settings/', {
    summary: 'Choose which emails you get; codes and security notices are always sent',
    access: 'user',
    body: z.object(MailChoices.shape),
    reply: MailChoices
  }),
  saveLanguage: route('PUT', '/api/users/u/language/', {
    summary: 'Set the language of your emails',
    access: 'user',
    body: z.object({ language: z.enum(LANGUAGES) }),
    reply: Done
  }),
  openUnsubscribe: route('GET', '/api/mail/unsubscribe/', {
    summary: 'Redirects a browser from List-Unsubscribe to the page that asks first',
    access: 'public',
    query: UnsubscribeQuery,
    reply: Done,
    raw: 'redirect'
  }),
  unsubscribe: route('POST', '/api/mail/unsubscribe/', {
    summary: 'Turn off one kind of email by its one-click link (RFC 8058); needs no login',
    access: 'public',
    bodyLimit: 16 * 1024,
    query: UnsubscribeQuery,
    body: z.object({}).optional(),
    reply: z.object({ kind: z.enum(OPTIONAL_MAILS) })
  }),
  mails: route('GET', '/api/settings/mails/', {
    summary: 'Sent emails; search by address',
    access: 'admin',
    permission: 'mails.view',
    query: listQuery({ sort: ['id'], filters: { state: z.enum(MAIL_STATES).optional() } }),
    reply: page(SentMail)
  }),
  mail: route('GET', '/api/settings/mails/:id/', {
    summary: 'One email as it was sent; recorded in the audit log',
    access: 'admin',
    permission: 'mails.view',
    params: IdParams,
    reply: MailDetail
  }),
  sendAgain: route('POST', '/api/settings/mails/:id/send_again/', {
    summary: 'Resend a sent or failed email; at most a few times, with a pause in between',
    access: 'admin',
    permission: 'mails.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: Done
  }),
  blocks: route('GET', '/api/settings/mail_blocks/', {
    summary: 'Blocked addresses: emails to them bounced, or their owners reported spam',
    access: 'admin',
    permission: 'mails.view',
    query: listQuery({ sort: ['id'], filters: { cause: z.enum(BLOCK_CAUSES).optional() } }),
    reply: page(BlockedAddress)
  }),
  liftBlock: route('POST', '/api/settings/mail_blocks/:id/lift/', {
    summary: 'Unblock an address',
    access: 'admin',
    permission: 'mails.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: Done
  }),
  senderCheck: route('GET', '/api/settings/mail_domain/', {
    summary: 'SPF, DKIM and DMARC records of the sending domain, as DNS has them now',
    access: 'admin',
    permission: 'settings.view',
    reply: SenderCheck
  }),
  sendgridEvents: route('POST', '/api/mail/sendgrid_events', {
    summary: "SendGrid's event webhook: bounces and complaints (signed)",
    access: 'public',
    rawBody: true,
    bodyLimit: 1024 * 1024,
    body: z.unknown(),
    reply: Done
  }),
  mailgunEvents: route('POST', '/api/mail/mailgun_events', {
    summary: "Mailgun's webhook: bounces and complaints (signed)",
    access: 'public',
    bodyLimit: 256 * 1024,
    body: z.unknown(),
    reply: Done
  }),
  templates: route('GET', '/api/settings/mail_templates/', {
    summary: 'Previews of all email templates in each language',
    access: 'admin',
    permission: 'mails.view',
    reply: z.array(MailPreview)
  })
}
