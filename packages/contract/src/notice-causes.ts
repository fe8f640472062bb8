// Names of notices to operators, without schemas, so that screens can import them without the validation library.
import type { Permission } from './permissions.ts'

/** Most urgent first. Critical notices ignore quiet hours. */
export const NOTICE_SEVERITIES = ['critical', 'warning', 'info'] as const
export type NoticeSeverity = (typeof NOTICE_SEVERITIES)[number]

type Cause = {
  /** The default, which the console can change. */
  severity: NoticeSeverity
  /** The figure at which a notice is sent: unit, default and limits. */
  threshold?: { unit: 'minutes' | 'addresses' | 'days'; standard: number; min: number; max: number }
  /** The permission to see the rows behind it. */
  rows: Permission
}

/** All causes of notices, most urgent first. */
export const NOTICE_CAUSES = {
  /** A server does not answer. */
  server_down: { severity: 'critical', rows: 'servers.view' },
  /** Paid orders with nothing delivered after so many minutes. */
  undelivered: {
    severity: 'critical',
    threshold: { unit: 'minutes', standard: 15, min: 1, max: 1440 },
    rows: 'orders.view'
  },
  /** A chargeback, which has a deadline. */
  dispute: { severity: 'critical', rows: 'payments.view' },
  /** A proxy accepts what it should refuse, or the reverse. */
  proofs: { severity: 'critical', rows: 'addresses.view' },
  /** Data derived from the leases does not match them. */
  inventory: { severity: 'critical', rows: 'health.view' },
  /** Platform events that could not be handled for an hour. */
  late_events: { severity: 'critical', rows: 'health.view' },
  /** A payment event needs a decision. */
  payment: { severity: 'warning', rows: 'payments.view' },
  /** An order is stuck. */
  order_trouble: { severity: 'warning', rows: 'orders.view' },
  /** A server answers but cannot be brought up to date. */
  server_trouble: { severity: 'warning', rows: 'servers.view' },
  /** An upgrade of servers stopped. */
  upgrade: { severity: 'warning', rows: 'servers.view' },
  /** Payments that no webhook reported, or another installation receives the webhooks. */
  webhooks: { severity: 'warning', rows: 'health.view' },
  /** Jobs of a queue that used up their retries. */
  dead_letter: { severity: 'warning', rows: 'tasks.view' },
  /** Mails that failed permanently. */
  mails: { severity: 'warning', rows: 'mails.view' },
  /** An agent's certificate ends within so many days. */
  certificate: {
    severity: 'warning',
    threshold: { unit: 'days', standard: 14, min: 1, max: 365 },
    rows: 'servers.view'
  },
  /** The token of the platform, mail service or an agent is refused or unreadable. */
  token: { severity: 'critical', rows: 'health.view' },
  /** Addresses of a group left for sale under a rule. */
  stock: {
    severity: 'warning',
    threshold: { unit: 'addresses', standard: 64, min: 0, max: 1_000_000 },
    rows: 'products.view'
  },
  abuse: { severity: 'info', rows: 'addresses.view' },
  prices: { severity: 'info', rows: 'products.view' },
  tickets: { severity: 'info', rows: 'tickets.view' },
  /** Everything without its own cause. */
  other: { severity: 'warning', rows: 'health.view' }
} as const satisfies Record<string, Cause>
export type NoticeCause = keyof typeof NOTICE_CAUSES
export const NOTICE_CAUSE_NAMES = Object.keys(NOTICE_CAUSES) as [NoticeCause, ...NoticeCause[]]

/** A cause's threshold; undefined if it has none. */
export const thresholdOf = (cause: NoticeCause): Cause['threshold'] => {
  const found: Cause = NOTICE_CAUSES[cause]
  return found.threshold
}

/** `mail` to operators; `chat`: the chat platform's incoming webhook; `webhook`: JSON signed as Standard Webhooks. */
export const NOTICE_CHANNELS = ['mail', 'chat', 'webhook'] as const
export type NoticeChannelKind = (typeof NOTICE_CHANNELS)[number]

/** Why a message is sent: it began, got worse, still lasts, ended; the daily digest; a test of the channel. */
export const NOTICE_TELLINGS = ['opened', 'worse', 'lasts', 'ended', 'digest', 'test'] as const
export type NoticeTelling = (typeof NOTICE_TELLINGS)[number]

/** `waiting` for its time or a retry; `skipped`: no longer needed; `failed`: given up. */
export const NOTICE_SEND_STATES = ['waiting', 'sent', 'failed', 'skipped'] as const
export type NoticeSendState = (typeof NOTICE_SEND_STATES)[number]

/** Why an attempt failed. */
export const NOTICE_FAILURES = [
  'status',
  'no_chat',
  'no_recipient',
  'blocked_recipients',
  'unreadable_target',
  'not_https',
  'port',
  'not_public',
  'own_address',
  'unresolved',
  'timeout',
  'tls',
  'network',
  'cut_off'
] as const
export type NoticeFailure = (typeof NOTICE_FAILURES)[number]

/** Largest numbers of channels, and of stock levels of groups and rules. */
export const MAX_NOTICE_CHANNELS = 20
export const MAX_STOCK_LEVELS = 200
