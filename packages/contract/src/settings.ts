import { z } from 'zod'
import { route } from './route.ts'
import { Done, ListQuery, Time, page } from './shapes.ts'

const line = z.string().trim().max(1000).default('')
const rate = (max: number) => z.coerce.number().min(0).max(max)
const count = (max: number) => z.coerce.number().pipe(z.int().min(0).max(max))

/** Every setting of Web Settings with its default. */
export const Settings = z.object({
  discord_client_id: line,
  discord_client_secret: line,
  discord_redirect_uri: line,
  discord_bind_redirect_uri: line,
  discord_bot_token: line,
  /** Channel ids, comma-separated. */
  discord_bot_channels: line,
  discord_bot_points_per_message: count(10_000).default(0),
  discord_bot_max_points_per_day: count(1_000_000).default(0),
  shopify_api_key: line,
  /** Signs the platform's webhooks. */
  shopify_api_secret: line,
  /** The Admin API's access token. */
  shopify_app_key: line,
  /** A domain, or a base address that starts with http:// or https://. */
  shopify_shop_url: line,
  email_method: z.enum(['sendgrid', 'mailgun', 'smtp']).default('sendgrid'),
  email_from: line,
  /** Seconds. */
  email_code_expire: z.coerce.number().pipe(z.int().min(60).max(86_400)).default(600),
  sendgrid_api_key: line,
  mailgun_api_key: line,
  mailgun_sender_domain: line,
  support_twitter: line,
  support_discord: line,
  invite_level_points_per_user: count(1_000_000).default(10),
  /** Level points for each unit of money paid. */
  billing_rate: rate(1000).default(1),
  level_points_decay_rate: rate(1).default(0.1),
  level_points_decay_day: z.coerce.number().pipe(z.int().min(1).max(28)).default(1),
  /** Coins to the inviter for each unit of money that the invited user pays. */
  invite_rebate_rate: rate(1000).default(0.05),
  /** Unpaid orders that a customer may hold at once. */
  max_unpaid_orders: z.coerce.number().pipe(z.int().min(1).max(1000)).default(20),
  /** RFC 8805 lines. */
  geofeed: z.string().max(1_000_000).default('')
})
export type Settings = z.infer<typeof Settings>

/** Never sent to a browser: a stored one shows as this, and saving this leaves it as it is. */
export const SECRET_KEPT = '••••••••'
export const SECRET_SETTINGS = [
  'discord_client_secret',
  'discord_bot_token',
  'shopify_api_secret',
  'shopify_app_key',
  'sendgrid_api_key',
  'mailgun_api_key'
] as const satisfies (keyof Settings)[]

export const SettingsForm = Settings.partial()

export const AuditEntry = z.object({
  id: z.number(),
  at: Time,
  actor: z.string(),
  action: z.string(),
  target_type: z.string(),
  target_id: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  ip: z.string().nullable()
})
export type AuditEntry = z.infer<typeof AuditEntry>

export const settings = {
  config: route('GET', '/api/settings/config', { summary: 'Web settings', access: 'admin', reply: Settings }),
  saveConfig: route('POST', '/api/settings/config', {
    summary: 'Save web settings',
    access: 'admin',
    body: SettingsForm,
    reply: Settings
  }),
  logs: route('GET', '/api/settings/logs', {
    summary: 'The latest lines of the server log and the task log',
    access: 'admin',
    reply: z.object({ server_logs: z.string(), task_logs: z.string() })
  }),
  social: route('GET', '/api/settings/social', {
    summary: 'Community links',
    access: 'public',
    reply: z.object({ discord: z.string(), twitter: z.string() })
  }),
  audit: route('GET', '/api/settings/audit_log/', {
    summary: 'What administrators changed',
    access: 'admin',
    query: ListQuery,
    reply: page(AuditEntry)
  }),
  geofeed: route('GET', '/geofeed.csv', {
    summary: 'Geofeed (RFC 8805)',
    access: 'public',
    reply: Done,
    raw: 'text/csv'
  })
}
