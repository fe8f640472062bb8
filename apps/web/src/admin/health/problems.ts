import type { Health } from '@netlet/contract'
import type { T } from '../kit/index.ts'

/** How long a job or an event may wait before it is a problem, in milliseconds. */
const LATE = 10 * 60_000

const SECTIONS = ['platform', 'jobs', 'servers', 'mail', 'database', 'http'] as const

/** What somebody has to look at, in words, the worst first. */
export function problemsOf(health: Health, t: T): string[] {
  const { at, platform, jobs, servers, mail, http } = health
  const late = (time: string | null | undefined) => typeof time === 'string' && Date.parse(at) - Date.parse(time) > LATE
  const found: (string | false | undefined)[] = SECTIONS.map(
    part => health[part] === null && t('health.problem.unread', { part: t(`health.${part}`) })
  )
  if (platform && !platform.configured) found.push(t('health.problem.notConfigured'))
  if (platform) {
    const { shop, webhooks, events, prices, products, reconciliation } = platform
    const missing = webhooks.wanted.filter(topic => !webhooks.present.includes(topic))
    found.push(
      shop.error !== null && t('health.problem.platform', { message: shop.error }),
      shop.currency !== null &&
        shop.currency !== shop.expected_currency &&
        t('health.problem.currency', { currency: shop.currency, expected: shop.expected_currency }),
      shop.missing_scopes.length > 0 && t('health.problem.scopes', { scopes: shop.missing_scopes.join(', ') }),
      webhooks.error !== null &&
        webhooks.error !== shop.error &&
        t('health.problem.webhooks', { message: webhooks.error }),
      reconciliation.error !== null && t('health.problem.reconciliation', { message: reconciliation.error }),
      products.error !== null && t('health.problem.products', { message: products.error }),
      prices.error !== null &&
        prices.error !== products.error &&
        prices.error !== shop.error &&
        t('health.problem.products', { message: prices.error }),
      webhooks.foreign.length > 0 && t('health.problem.foreign', { origins: webhooks.foreign.join(', ') }),
      missing.length > 0 && t('health.problem.missing', { topics: missing.join(', ') }),
      webhooks.missed > 0 && t('health.problem.missed', { count: webhooks.missed }),
      events.unresolved > 0 && t('health.problem.unresolved', { count: events.unresolved }),
      late(events.oldest_waiting) && t('health.problem.events', { count: events.waiting }),
      late(events.oldest_waiting) &&
        events.waits_for !== null &&
        t('health.problem.eventsWaitFor', { reason: events.waits_for }),
      prices.differ > 0 && t('health.problem.prices', { count: prices.differ })
    )
  }
  for (const { name, since } of servers?.unreachable ?? [])
    found.push(since === null ? false : t('health.problem.server', { name }))
  for (const { name, message } of servers?.troubled ?? [])
    found.push(t('health.problem.server_trouble', { name, message }))
  for (const queue of jobs?.queues ?? []) {
    found.push(queue.dead > 0 && t('health.problem.dead', { queue: queue.name, count: queue.dead }))
    found.push(late(queue.oldest) && t('health.problem.queue', { queue: queue.name, count: queue.waiting }))
  }
  if (mail) {
    found.push(
      mail.error !== null && t('health.problem.mailError', { message: mail.error }),
      mail.failed > 0 && t('health.problem.mailFailed', { count: mail.failed })
    )
  }
  found.push(late(mail?.oldest) && t('health.problem.mail', { count: mail?.waiting ?? 0 }))
  for (const { address } of http?.untrusted_proxies ?? []) found.push(t('health.problem.proxy', { address }))
  return found.filter(text => typeof text === 'string')
}
