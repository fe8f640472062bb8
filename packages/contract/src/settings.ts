import { z } from 'zod'
import { AuditEntry, auditQuery } from './audit.ts'
import { brandRoutes, DEFAULT_SHOP_NAME } from './brand.ts'
import { message } from './form-messages.ts'
import { healthRoutes } from './health.ts'
import { page } from './list.ts'
import { RetentionFigures } from './retention.ts'
import { route } from './route.ts'
import { Done, IdParams, ReasonParams, Time, formVersion, queryInt, storable, TimeZone } from './shapes.ts'
import { taskRoutes } from './tasks.ts'

/** Tests of the saved Web Settings. */
export const SETTING_TESTS = ['mail', 'platform', 'chat', 'webhook_secret'] as const
export type SettingTest = (typeof SETTING_TESTS)[number]

/**
 * Results of a test. `platform_answers`: with the saved access token. `platform_granted`: with one obtained by the
 * app's key and secret. `platform_old_orders`: the app cannot see orders older than 60 days. `platform_password`:
 * the Online Store asks visitors for a password. `webhook_unproved`: no
 * webhook has arrived since the secret was saved. `webhook_doubted`: signed ones have arrived, and since then a request
 * with another signature, which anyone can send. `webhook_former`: the last one was signed with a former secret that is
 * still accepted.
 */
export const TEST_OUTCOMES = [
  'not_configured',
  'failed',
  'mail_sent',
  'platform_answers',
  'platform_granted',
  'platform_old_orders',
  'platform_scopes',
  'platform_currency',
  'platform_password',
  'chat_answers',
  'chat_bot_answers',
  'webhook_signed',
  'webhook_doubted',
  'webhook_refused',
  'webhook_former',
  'webhook_unproved'
] as const
export type TestOutcome = (typeof TEST_OUTCOMES)[number]

export const SettingTestForm = z.object({ test: z.enum(SETTING_TESTS, { error: message('must_select') }) })

export const SettingTestResult = z.object({
  ok: z.boolean(),
  outcome: z.enum(TEST_OUTCOMES),
  /** Values for the outcome's sentence: an address, a shop, an instant. */
  params: ReasonParams,
  /** The other side's message, in English. */
  detail: z.string().nullable()
})
export type SettingTestResult = z.infer<typeof SettingTestResult>

export const LOG_SOURCES = ['server', 'task'] as const
export const LOG_LEVELS = ['INFO', 'WARN', 'ERROR', 'FATAL'] as const
export type LogSource = (typeof LOG_SOURCES)[number]
export type LogLevel = (typeof LOG_LEVELS)[number]

export const LogQuery = z.object({
  source: z.enum(LOG_SOURCES, { error: message('must_select') }).default('server'),
  /** Only lines after this id. */
  after_id: queryInt(0, 999_999_999, message('must_be_id')).default(0)
})

/** The latest lines of one log, oldest first. */
export const LogTail = z.object({
  lines: z.array(z.object({ id: z.number(), at: Time, level: z.enum(LOG_LEVELS), line: z.string() }))
})
export type LogTail = z.infer<typeof LogTail>

export const CHAT_BOT_PROBLEMS = [
  'token_refused',
  'intents_refused',
  'rate_limited',
  'unreachable',
  'silent',
  'server_error',
  'bad_reply',
  'crashed'
] as const
export type ChatBotProblem = (typeof CHAT_BOT_PROBLEMS)[number]

export const ChatBotStatus = z.object({
  /** `off`: no token is set. `absent`: no worker runs it. `waiting`: it failed and retries at `retry_at`. */
  state: z.enum(['off', 'absent', 'connecting', 'connected', 'waiting']),
  since: Time.nullable(),
  /** Its name on the chat platform. */
  name: z.string().nullable(),
  /** Why the last attempt failed; null once it is connected. */
  problem: z.enum(CHAT_BOT_PROBLEMS).nullable(),
  detail: z.string().nullable(),
  retry_at: Time.nullable(),
  /** Why its commands are not registered, which it retries; null if they are. */
  commands_problem: z.string().nullable(),
  /** Configured channels that it cannot read. */
  unreadable_channels: z.array(z.string())
})
export type ChatBotStatus = z.infer<typeof ChatBotStatus>

export const chatBotRoutes = {
  chatBot: route('GET', '/api/settings/chat_bot', {
    summary: 'State of the chat bot',
    access: 'admin',
    permission: 'settings.view',
    reply: ChatBotStatus
  })
}

const line = z
  .string()
  .trim()
  .max(1000, message('at_most_characters', { max: 1_000 }))
  // A line break in a sender or header would inject another header.
  .refine(value => storable(value) && !/[\r\n]/.test(value), message('forbidden_character'))
  .default('')
/** Browsers are redirected there, so accept only web addresses. */
const link = line
  .unwrap()
  .refine(value => value === '' || isWebAddress(value), message('must_be_web_address'))
  .default('')
const shopAddress = line
  .unwrap()
  .refine(value => value === '' || isShopAddress(value), message('must_be_shop_address'))
  .default('')

/** The public key of an elliptic curve, as services show it. */
const publicKey = line
  .unwrap()
  .refine(value => value === '' || /^[A-Za-z0-9+/]{80,400}={0,2}$/.test(value), message('must_be_public_key'))
  .default('')
/** One or several labels of a DNS name. */
const selector = line
  .unwrap()
  .refine(
    value => value === '' || /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63}){0,3}$/i.test(value),
    message('must_be_selector')
  )
  .default('')

/** Requires a host, and rejects what a parser would repair: it reads `https:///a/b` as the host `a`. */
function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^\s/?#\\][^\s\\]*$/i.test(value) && URL.canParse(value)
}

function isShopAddress(value: string): boolean {
  const address = /^https?:/i.test(value) ? value : `https://${value}`
  return isWebAddress(address) && new URL(address).username === ''
}

/** A number, or its text from a form. An empty field is missing, not 0. */
function amount(min: number, max: number, wrong = message('must_be_number', { min, max })) {
  return z
    .union(
      [
        z.number(),
        z
          .string()
          .trim()
          .regex(/^\d{1,12}(\.\d{1,12})?$/)
          .transform(Number)
      ],
      { error: wrong }
    )
    .refine(value => value >= min && value <= max, wrong)
}
function whole(min: number, max: number) {
  return amount(min, max).refine(Number.isInteger, message('must_be_whole_number', { min, max }))
}
/** Empty: unlimited. */
function wholeOrEmpty(min: number, max: number) {
  const wrong = message('whole_or_empty', { min, max })
  return z.union([z.literal(''), amount(min, max, wrong).refine(Number.isInteger, wrong)], { error: wrong })
}

/** Every Web Setting with its default. */
export const Settings = z.object({
  discord_client_id: line,
  discord_client_secret: line,
  discord_redirect_uri: link,
  discord_bind_redirect_uri: link,
  discord_bot_token: line,
  /** Channel ids, comma-separated. */
  discord_bot_channels: line,
  discord_bot_points_per_message: whole(0, 10_000).default(0),
  discord_bot_max_points_per_day: whole(0, 1_000_000).default(0),
  /** The app's client id. With the secret, the shop gets access tokens that last a day. */
  shopify_api_key: line,
  /** Signs the platform's webhooks, and gets access tokens. */
  shopify_api_secret: line,
  /** Hours for which webhooks signed with the previous secret are accepted. 0: none. */
  webhook_secret_overlap_hours: whole(0, 720).default(24),
  /** A permanent access token, for apps that still have one. Empty: use key and secret. */
  shopify_app_key: line,
  /** A domain, or a base address that starts with http:// or https://. */
  shopify_shop_url: shopAddress,
  email_method: z.enum(['sendgrid', 'mailgun', 'smtp'], { error: message('select_email_method') }).default('sendgrid'),
  email_from: line,
  /** Seconds. */
  email_code_expire: whole(60, 86_400).default(600),
  sendgrid_api_key: line,
  mailgun_api_key: line,
  mailgun_sender_domain: line,
  /** Verifies SendGrid's event webhook: its public key, SPKI in base64. */
  sendgrid_webhook_key: publicKey,
  /** Signs Mailgun's webhooks. */
  mailgun_webhook_key: line,
  /** The sender's key is at `<selector>._domainkey.<domain>`; empty: the mail service's default names. */
  email_dkim_selector: selector,
  shop_name: z
    .string({ error: message('enter_shop_name') })
    .trim()
    .min(1, message('enter_shop_name'))
    .max(40, message('at_most_characters', { max: 40 }))
    // It stands in mail headers and on the second factor's app.
    .refine(value => storable(value) && !/[\p{Cc}<>"\\:]/u.test(value), message('forbidden_character'))
    .default(DEFAULT_SHOP_NAME),
  /** '#0b6860'; '': the default. */
  shop_accent: z
    .string({ error: message('must_be_colour') })
    .trim()
    .toLowerCase()
    .regex(/^(#[\da-f]{6})?$/, message('must_be_colour'))
    .default(''),
  /** Of the dates in mails. */
  shop_time_zone: TimeZone().default('UTC'),
  /** Lines below each mail, such as the address of the company. */
  mail_footer: z
    .string()
    .trim()
    .max(500, message('at_most_characters', { max: 500 }))
    .refine(storable, message('forbidden_character'))
    .default(''),
  support_twitter: link,
  support_discord: link,
  invite_level_points_per_user: whole(0, 1_000_000).default(10),
  /** Level points per unit of money paid. */
  billing_rate: amount(0, 1000).default(1),
  level_points_decay_rate: amount(0, 1).default(0.1),
  level_points_decay_day: whole(1, 28).default(1),
  /** The inviter's coins per unit of money that an invited user pays. */
  invite_rebate_rate: amount(0, 1000).default(0.05),
  /** Days until earned coins can be spent. */
  coins_hold_days: whole(0, 365).default(7),
  /** ISO 4217 currency of the shop's prices. Payments in another currency do not settle orders. */
  shop_currency: z
    .string()
    .trim()
    .toUpperCase()
    .regex(/^[A-Z]{3}$/, message('must_be_currency'))
    .default('USD'),
  /** Deliver payments that the platform marks as tests? For development only. */
  accept_test_payments: z.boolean({ error: message('must_be_yes_or_no') }).default(false),
  /** Unpaid orders per customer. */
  max_unpaid_orders: whole(1, 1000).default(20),
  /** Addresses per customer in unpaid orders. */
  max_unpaid_addresses: whole(1, 1_000_000).default(1024),
  /** The same for a customer who has never paid. All such customers of one network may hold four times as many. */
  max_new_customer_addresses: whole(1, 1_000_000).default(256),
  /** Hours for which an expired order's addresses are held for its customer. 0: none. */
  grace_hours: whole(0, 720).default(24),
  /** How often per term a customer may change an order's addresses. 0: never. */
  customer_changes_per_term: whole(0, 1000).default(0),
  /** The same for the password; '': unlimited. */
  customer_resets_per_term: wholeOrEmpty(0, 1000).default(10),
  // Days after which rows are removed, see retention.ts.
  keep_logs_days: whole(1, 365).default(30),
  keep_mails_days: whole(30, 3650).default(365),
  /** Texts of mails. The record that they were sent is kept longer. */
  keep_mail_contents_days: whole(1, 3650).default(90),
  keep_audit_days: whole(365, 3650).default(1825),
  /** Contents of platform events. The events themselves are kept longer. */
  keep_event_payloads_days: whole(7, 3650).default(90),
  keep_events_days: whole(90, 3650).default(730),
  keep_bulk_runs_days: whole(1, 365).default(30),
  keep_order_history_days: whole(90, 3650).default(730),
  keep_retired_proxies_days: whole(7, 3650).default(90),
  keep_unpaid_orders_days: whole(7, 365).default(30),
  /** Minutes after which an unreachable server sells nothing. */
  unreachable_after: whole(1, 1440).default(10),
  /** Minutes after which a paid order waiting for such a server gets addresses of others. */
  rescue_after: whole(1, 10_080).default(30),
  /** Hours for which used addresses rest before they return to stock. */
  quarantine_hours: whole(0, 8760).default(0),
  /** Must operators have a second factor? Each has a week from the first log-in on. */
  operators_need_second_factor: z.boolean({ error: message('must_be_yes_or_no') }).default(true),
  /** How long after the log-in a session ends, however often it is used. */
  customer_session_days: whole(1, 3650).default(30),
  operator_session_hours: whole(1, 8760).default(12),
  /** For how long an operator's log-in or confirmation covers what asks for one. */
  operator_confirm_minutes: whole(1, 525_600).default(10),
  /** Refunds from this amount on ask for a confirmation, in the shop's currency. */
  confirm_refunds_from: amount(0, 1_000_000).default(100),
  /** Where to report vulnerabilities, for /.well-known/security.txt: an email address or an https:// address; '': none. */
  security_contact: z
    .string()
    .trim()
    .max(255, message('at_most_characters', { max: 255 }))
    .regex(/^(?:https:\/\/[^\s/]+\S*|[^\s@<>:]+@[^\s@<>]+\.[^\s@<>]+)?$/, message('must_be_contact'))
    .refine(storable, message('forbidden_character'))
    .default(''),
  /** May webhooks go to http: addresses? Anyone on the way can then read them. */
  webhooks_allow_http: z.boolean({ error: message('must_be_yes_or_no') }).default(false),
  /** RFC 8805 lines. */
  geofeed: z
    .string()
    .max(1_000_000, message('at_most_characters', { max: 1_000_000 }))
    .refine(storable, message('forbidden_character'))
    .default('')
})
export type Settings = z.infer<typeof Settings>

/** The browser gets this instead of a stored secret. Saving it leaves the secret unchanged. */
export const SECRET_KEPT = '••••••••'
export const SECRET_SETTINGS = [
  'discord_client_secret',
  'discord_bot_token',
  'shopify_api_secret',
  'shopify_app_key',
  'sendgrid_api_key',
  'mailgun_api_key',
  'mailgun_webhook_key'
] as const satisfies (keyof Settings)[]

/** The settings for the form: secrets masked, with one version. */
export const ShownSettings = Settings.extend({ version: z.string() })
export type ShownSettings = z.infer<typeof ShownSettings>

type FormShape = {
  [K in keyof typeof Settings.shape]: z.ZodOptional<ReturnType<(typeof Settings.shape)[K]['unwrap']>>
}
/** A partial update. Fields have no defaults here, or missing ones would be reset. */
export const SettingsForm = z.object(
  Object.fromEntries(
    Object.entries(Settings.shape).map(([name, field]) => [name, field.unwrap().optional()])
  ) as unknown as FormShape
)

export const settings = {
  config: route('GET', '/api/settings/config', {
    summary: 'Web settings',
    access: 'admin',
    permission: 'settings.view',
    reply: ShownSettings
  }),
  saveConfig: route('POST', '/api/settings/config', {
    summary: 'Save web settings',
    access: 'admin',
    permission: 'settings.change',
    needsConfirmation: true,
    sessionOnly: true,
    bodyLimit: 2 * 1024 * 1024,
    body: SettingsForm.extend(formVersion),
    reply: ShownSettings
  }),
  logs: route('GET', '/api/settings/logs', {
    summary: 'The latest lines of the server log and the task log',
    access: 'admin',
    permission: 'settings.view',
    reply: z.object({ server_logs: z.string(), task_logs: z.string() })
  }),
  logTail: route('GET', '/api/settings/log_lines', {
    summary: 'The latest lines of one log, or those after a line',
    access: 'admin',
    permission: 'settings.view',
    query: LogQuery,
    reply: LogTail
  }),
  test: route('POST', '/api/settings/test', {
    summary: 'Test saved settings: an email to you, the platform, the chat platform or the webhook secret',
    access: 'admin',
    permission: 'settings.change',
    sessionOnly: true,
    body: SettingTestForm,
    reply: SettingTestResult
  }),
  retention: route('GET', '/api/settings/retention', {
    summary: 'Retention periods, and what was last deleted',
    access: 'admin',
    permission: 'health.view',
    reply: z.array(RetentionFigures)
  }),
  social: route('GET', '/api/settings/social', {
    summary: 'Community links',
    access: 'public',
    reply: z.object({ discord: z.string(), twitter: z.string() })
  }),
  audit: route('GET', '/api/settings/audit_log/', {
    summary: 'Audit log entries',
    access: 'admin',
    permission: 'audit.view',
    query: auditQuery,
    reply: page(AuditEntry)
  }),
  auditEntry: route('GET', '/api/settings/audit_log/:id/', {
    summary: 'An entry of the audit log',
    access: 'admin',
    permission: 'audit.view',
    params: IdParams,
    reply: AuditEntry
  }),
  ...brandRoutes,
  ...healthRoutes,
  ...taskRoutes,
  ...chatBotRoutes,
  geofeed: route('GET', '/geofeed.csv', {
    summary: 'Geofeed (RFC 8805)',
    access: 'public',
    reply: Done,
    raw: 'text/csv'
  })
}
