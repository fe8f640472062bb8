// Names of what operators are told of, without the validation library: screens take them from here.
import type { Permission } from './permissions.ts'

/** The most urgent first. What is critical is told in quiet hours too. */
export const NOTICE_SEVERITIES = ['critical', 'warning', 'info'] as const
export type NoticeSeverity = (typeof NOTICE_SEVERITIES)[number]

type Cause = {
  /** Unless the console says another one. */
  severity: NoticeSeverity
  /** From where on it is told of: the figure's unit, its standard and its limits. */
  threshold?: { unit: 'minutes' | 'addresses' | 'days'; standard: number; min: number; max: number }
  /** What one has to be allowed in order to see the rows behind it. */
  rows: Permission
}

/** Everything that operators are told of, the most urgent first. */
export const NOTICE_CAUSES = {
  /** A server does not answer. */
  server_down: { severity: 'critical', rows: 'servers.view' },
  /** Orders that are paid for, of which nothing is delivered after so many minutes. */
  undelivered: {
    severity: 'critical',
    threshold: { unit: 'minutes', standard: 15, min: 1, max: 1440 },
    rows: 'orders.view'
  },
  /** A bank takes money back: it sets a deadline. */
  dispute: { severity: 'critical', rows: 'payments.view' },
  /** A proxy lets in what it should not, or keeps out what it should let in. */
  proofs: { severity: 'critical', rows: 'addresses.view' },
  /** What is derived from the leases does not agree with them. */
  inventory: { severity: 'critical', rows: 'health.view' },
  /** Events of the platform that cannot be handled for an hour. */
  late_events: { severity: 'critical', rows: 'health.view' },
  /** An event about money waits in the inbox for a decision. */
  payment: { severity: 'warning', rows: 'payments.view' },
  /** One order cannot go on by itself. */
  order_trouble: { severity: 'warning', rows: 'orders.view' },
  /** A server answers, and something keeps it from holding what is wanted of it. */
  server_trouble: { severity: 'warning', rows: 'servers.view' },
  /** An upgrade of servers stopped. */
  upgrade: { severity: 'warning', rows: 'servers.view' },
  /** Payments are made of which no webhook tells, or another installation takes the webhooks. */
  webhooks: { severity: 'warning', rows: 'health.view' },
  /** Jobs of a queue that failed as often as they may. */
  dead_letter: { severity: 'warning', rows: 'tasks.view' },
  /** Mails that failed for good. */
  mails: { severity: 'warning', rows: 'mails.view' },
  /** An agent's certificate ends within so many days. */
  certificate: {
    severity: 'warning',
    threshold: { unit: 'days', standard: 14, min: 1, max: 365 },
    rows: 'servers.view'
  },
  /** The token of the platform, the mail service or an agent is not taken, or cannot be read, any more. */
  token: { severity: 'critical', rows: 'health.view' },
  /** Addresses of a group that can still be sold under a rule. */
  stock: {
    severity: 'warning',
    threshold: { unit: 'addresses', standard: 64, min: 0, max: 1_000_000 },
    rows: 'products.view'
  },
  abuse: { severity: 'info', rows: 'addresses.view' },
  prices: { severity: 'info', rows: 'products.view' },
  tickets: { severity: 'info', rows: 'tickets.view' },
  /** Whatever has no kind of its own. */
  other: { severity: 'warning', rows: 'health.view' }
} as const satisfies Record<string, Cause>
export type NoticeCause = keyof typeof NOTICE_CAUSES
export const NOTICE_CAUSE_NAMES = Object.keys(NOTICE_CAUSES) as [NoticeCause, ...NoticeCause[]]

/** How the figure of a cause is counted; undefined for one that has none. */
export const thresholdOf = (cause: NoticeCause): Cause['threshold'] => {
  const found: Cause = NOTICE_CAUSES[cause]
  return found.threshold
}

/** `mail` to operators; `chat`: an incoming webhook of the chat platform; `webhook`: JSON, signed as Standard Webhooks. */
export const NOTICE_CHANNELS = ['mail', 'chat', 'webhook'] as const
export type NoticeChannelKind = (typeof NOTICE_CHANNELS)[number]

/** Why something is sent: it began, got worse, still lasts, ended; the day's rest; somebody tries the channel out. */
export const NOTICE_TELLINGS = ['opened', 'worse', 'lasts', 'ended', 'digest', 'test'] as const
export type NoticeTelling = (typeof NOTICE_TELLINGS)[number]

/** `waiting` for its time or its next try; `skipped`: nobody needed it any more; `failed`: given up. */
export const NOTICE_SEND_STATES = ['waiting', 'sent', 'failed', 'skipped'] as const
export type NoticeSendState = (typeof NOTICE_SEND_STATES)[number]

/** What came of a try that did not succeed. */
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

/** Channels of a shop; stock levels of groups and rules. */
export const MAX_NOTICE_CHANNELS = 20
export const MAX_STOCK_LEVELS = 200
