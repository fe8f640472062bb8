import { z } from 'zod'
import { Time } from './shapes.ts'

/** Kinds of rows that retention removes. */
export const RETAINED = [
  'sessions',
  'logins',
  'email_codes',
  'captchas',
  'api_key_networks',
  'login_failures',
  'oauth_states',
  'second_factor_tickets',
  'log_lines',
  'audit_log',
  'chat_reports',
  'chat_days',
  'chat_told',
  'event_payloads',
  'platform_events',
  'bulk_runs',
  'catalog_sync_runs',
  'order_events',
  'retired_proxies',
  'unpaid_orders',
  'abuse_alarms',
  'access_proofs',
  'mails',
  'mail_contents',
  'mail_report_tokens',
  'notices',
  'checkout_keys',
  'traffic_hours',
  'traffic_days',
  'traffic_marks',
  'upgrades',
  'webhook_events',
  'webhook_endpoints',
  'status_days',
  'status_subscribers',
  'jobs'
] as const
export type Retained = (typeof RETAINED)[number]

/** Settings with a retention period in days. */
export const RETENTION_SETTINGS = [
  'keep_logs_days',
  'keep_mails_days',
  'keep_mail_contents_days',
  'keep_audit_days',
  'keep_event_payloads_days',
  'keep_events_days',
  'keep_bulk_runs_days',
  'keep_order_history_days',
  'keep_retired_proxies_days',
  'keep_unpaid_orders_days'
] as const
export type RetentionSetting = (typeof RETENTION_SETTINGS)[number]

/** A kind of rows that are removed with age, with the latest figures. */
export const RetentionFigures = z.object({
  what: z.enum(RETAINED),
  why: z.string(),
  keep_hours: z.number(),
  /** The setting of the period; null if it is fixed. */
  setting: z.enum(RETENTION_SETTINGS).nullable(),
  /** Null before the first count; an estimate for large tables. */
  rows: z.number().nullable(),
  oldest: Time.nullable(),
  /** Rows removed by the last clean-up. */
  removed: z.number(),
  removed_at: Time.nullable(),
  counted_at: Time.nullable()
})
export type RetentionFigures = z.infer<typeof RetentionFigures>
