import type { NoticeCause } from '@netlet/contract'

const index = '/dashboard/index'

/** Where in the console the rows behind a notice are. */
const PATHS: Record<NoticeCause, (subject: string) => string> = {
  server_down: id => `${index}/servers?open=${firstOf(id)}`,
  server_trouble: id => `${index}/servers?open=${firstOf(id)}`,
  undelivered: () => `${index}/orders?problem=1`,
  dispute: () => `${index}/payments`,
  payment: () => `${index}/payments?unresolved=1`,
  order_trouble: id => `${index}/order/${firstOf(id)}`,
  proofs: () => `${index}/health#proofs`,
  inventory: () => `${index}/health`,
  late_events: () => `${index}/health`,
  webhooks: () => `${index}/health`,
  upgrade: () => `${index}/servers`,
  dead_letter: queue => `${index}/tasks?tab=dead&queue=${encodeURIComponent(queue)}`,
  mails: () => `${index}/mails?state=failed`,
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

export const pathOf = ({ cause, subject }: { cause: NoticeCause; subject: string }): string => PATHS[cause](subject)
