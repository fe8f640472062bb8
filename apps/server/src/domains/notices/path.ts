import type { NoticeCause } from '@netlet/contract'
import type { NoticeRow } from './tables.ts'

const index = '/dashboard/index'

/** The console's page with the rows behind a notice. */
const PATHS: Record<NoticeCause, (subject: string, params: NoticeRow['params']) => string> = {
  server_down: id => `${index}/servers?open=${firstOf(id)}`,
  server_trouble: id => `${index}/servers?open=${firstOf(id)}`,
  undelivered: () => `${index}/orders?problem=1`,
  dispute: () => `${index}/payments`,
  payment: (_, { order }) =>
    order === undefined || order === 'unknown'
      ? `${index}/payments?unresolved=1`
      : `${index}/payments?search=${encodeURIComponent(order)}`,
  order_trouble: id => `${index}/order/${firstOf(id)}`,
  proofs: () => `${index}/health#proofs`,
  inventory: () => `${index}/health`,
  late_events: () => `${index}/health`,
  webhooks: () => `${index}/health`,
  upgrade: () => `${index}/servers`,
  dead_letter: queue => `${index}/tasks?tab=dead&queue=${encodeURIComponent(queue)}`,
  mails: subject => `${index}/mails?state=${subject === 'service' ? 'waiting' : 'failed'}`,
  certificate: subject => (subject === 'public' ? `${index}/health` : `${index}/servers?open=${firstOf(subject)}`),
  token: subject =>
    /^\d+$/.test(subject)
      ? `${index}/servers?open=${subject}`
      : `${index}/WebsiteSettings?tab=${TABS[subject] ?? 'system'}`,
  stock: () => `${index}/servergroup`,
  abuse: () => `${index}/health#abuse`,
  prices: () => `${index}/health#prices`,
  tickets: () => `${index}/tickets?state=open`,
  other: () => `${index}/health`
}

const firstOf = (subject: string): string => /^\d+/.exec(subject)?.[0] ?? ''
const TABS: Readonly<Record<string, string>> = {
  platform: 'shopify',
  platform_key: 'shopify',
  platform_token: 'shopify',
  mail: 'email',
  chat: 'discord',
  chat_client: 'discord'
}

export const pathOf = ({ cause, subject, params }: Pick<NoticeRow, 'cause' | 'subject' | 'params'>): string =>
  PATHS[cause](subject, params)
