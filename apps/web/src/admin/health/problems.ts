import type { Health } from '@netlet/contract'
import { pageAt, pagePaths } from '@netlet/contract/pages'
import type { Permission } from '@netlet/contract/permissions'
import type { T } from '../kit/index.ts'

/** Milliseconds that a job or event may wait before it counts as a problem. */
const LATE = 10 * 60_000
/** Days after which a rehearsal of a restore is missing: it is made each week. */
const REHEARSED = 10

/** Most things work without this scope. */
const ALL_ORDERS = 'read_all_orders'
const PUBLICATIONS = 'read_publications'

const SECTIONS = ['platform', 'jobs', 'servers', 'mail', 'database', 'http'] as const

/** A problem in words, with a link if the role may open the page that solves it. */
export type Problem = { text: string; to?: string }

const { WebsiteSettings, tasks, servers: serversPath, mails, payments, AclManager, health: own } = pagePaths

/** Pages that not every role may open. */
const NEEDS: readonly (readonly [page: string, Permission])[] = [
  [WebsiteSettings, 'settings.view'],
  [tasks, 'tasks.view']
]

/** The worst first. */
export function problemsOf(health: Health, t: T, may: (permission: Permission) => boolean): Problem[] {
  const { at, platform, jobs, servers, mail, database, http } = health
  const late = (time: string | null | undefined) => typeof time === 'string' && Date.parse(at) - Date.parse(time) > LATE
  const found: Problem[] = []
  const opens = (to: string) => NEEDS.every(([page, permission]) => !to.startsWith(page) || may(permission))
  const tell = (is: boolean, text: string, to?: string) =>
    void (is && found.push({ text, ...(to && opens(to) ? { to } : {}) }))
  for (const part of SECTIONS) tell(health[part] === null, t('health.problem.unread', { part: t(`health.${part}`) }))
  const platformSettings = `${WebsiteSettings}?tab=shopify`
  if (platform) {
    tell(!platform.configured, t('health.problem.notConfigured'), platformSettings)
    const { shop, webhooks, versions, events, prices, products, reconciliation } = platform
    const missing = webhooks.wanted.filter(topic => !webhooks.present.includes(topic))
    tell(shop.error !== null, t('health.problem.platform', { message: shop.error ?? '' }), platformSettings)
    tell(
      shop.currency !== null && shop.currency !== shop.expected_currency,
      t('health.problem.currency', { currency: shop.currency ?? '', expected: shop.expected_currency }),
      platformSettings
    )
    tell(shop.password, t('health.problem.password'))
    tell(shop.paused, t('health.problem.paused'))
    tell(reconciliation.authorized !== null, t('health.problem.authorized', { order: reconciliation.authorized ?? '' }))
    const scopes = shop.missing_scopes.filter(scope => scope !== ALL_ORDERS && scope !== PUBLICATIONS)
    tell(scopes.length > 0, t('health.problem.scopes', { scopes: scopes.join(', ') }), platformSettings)
    tell(shop.missing_scopes.includes(ALL_ORDERS), t('health.problem.oldOrders'), platformSettings)
    tell(shop.missing_scopes.includes(PUBLICATIONS), t('health.problem.publications'), platformSettings)
    tell(
      webhooks.error !== null && webhooks.error !== shop.error,
      t('health.problem.webhooks', { message: webhooks.error ?? '' }),
      platformSettings
    )
    tell(
      reconciliation.error !== null,
      t('health.problem.reconciliation', { message: reconciliation.error ?? '' }),
      platformSettings
    )
    tell(products.error !== null, t('health.problem.products', { message: products.error ?? '' }), platformSettings)
    tell(
      prices.error !== null && prices.error !== products.error && prices.error !== shop.error,
      t('health.problem.products', { message: prices.error ?? '' }),
      platformSettings
    )
    for (const { kind, count, topic, certain } of webhooks.refused) {
      const what = t(`health.problem.refused.${kind}`, { count, topic })
      tell(
        true,
        certain || kind === 'no_secret' ? what : `${what} ${t('health.problem.refused.doubt')}`,
        platformSettings
      )
    }
    tell(
      webhooks.signed?.by === 'former' && webhooks.former_until !== null,
      t('health.problem.formerSecret'),
      platformSettings
    )
    const { wanted, replies, webhooks: told } = versions
    tell(replies !== null && replies !== wanted, t('health.problem.replies', { wanted, version: replies ?? '' }))
    tell(told !== null && told !== wanted, t('health.problem.told', { wanted, version: told ?? '' }))
    tell(webhooks.foreign.length > 0, t('health.problem.foreign', { origins: webhooks.foreign.join(', ') }))
    tell(missing.length > 0, t('health.problem.missing', { topics: missing.join(', ') }), platformSettings)
    tell(webhooks.missed > 0, t('health.problem.missed', { count: webhooks.missed }), payments)
    tell(
      events.unresolved > 0,
      t('health.problem.unresolved', { count: events.unresolved }),
      `${payments}?unresolved=1`
    )
    const waits = late(events.oldest_waiting)
    tell(waits, t('health.problem.events', { count: events.waiting }), `${payments}?late=1`)
    tell(
      waits && events.waits_for !== null,
      t('health.problem.eventsWaitFor', { reason: events.waits_for ?? '' }),
      `${payments}?late=1`
    )
    for (const [kind, to] of [
      ['products', `${pageAt('productManager')}?problem=1`],
      ['rules', AclManager]
    ] as const) {
      for (const why of ['unpublished', 'subscription_only', 'counted', 'shipped'] as const) {
        const { count, names } = platform[why][kind]
        const shown = names.join(', ') + (count > names.length ? ' …' : '')
        tell(count > 0, t(`health.problem.${why}.${kind}`, { count, names: shown }), to)
      }
    }
    tell(prices.differ > 0, t('health.problem.prices', { count: prices.differ }), `${own}#prices`)
  }
  const serverAt = (name: string) => `${serversPath}?search=${encodeURIComponent(name)}`
  for (const { name, since } of servers?.unreachable ?? [])
    tell(since !== null, t('health.problem.server', { name }), serverAt(name))
  for (const { name, message } of servers?.troubled ?? [])
    tell(true, t('health.problem.server_trouble', { name, message }), serverAt(name))
  for (const { name, dead, waiting, oldest } of jobs?.queues ?? []) {
    tell(dead > 0, t('health.problem.dead', { queue: name, count: dead }), `${tasks}?tab=dead`)
    tell(late(oldest), t('health.problem.queue', { queue: name, count: waiting }), `${tasks}?tab=queues`)
  }
  if (mail) {
    tell(mail.error !== null, t('health.problem.mailError', { message: mail.error ?? '' }), `${mails}?state=waiting`)
    tell(mail.failed > 0, t('health.problem.mailFailed', { count: mail.failed }), `${mails}?state=failed`)
    tell(late(mail.oldest), t('health.problem.mail', { count: mail.waiting }), `${mails}?state=waiting`)
  }
  const since = database?.recovering_since ?? null
  tell(
    since !== null,
    t('health.problem.recovering', { since: `${since?.slice(0, 16).replace('T', ' ')} UTC` }),
    payments
  )
  const rehearsal = database?.rehearsal ?? null
  if (rehearsal) {
    const { at: rehearsed, error } = rehearsal
    const days = Math.floor((Date.parse(at) - Date.parse(rehearsed)) / 86_400_000)
    tell(error !== null, t('health.problem.rehearsalFailed', { message: error ?? '' }))
    tell(days >= REHEARSED, t('health.problem.rehearsalOld', { count: days }))
  }
  const change = database?.secret_change ?? null
  if (change) {
    const { left, removable_at: at } = change
    tell(left > 0, t('health.problem.secrets', { count: left }))
    tell(at !== null, t('health.problem.secretPrevious', { at: `${at?.slice(0, 16).replace('T', ' ')} UTC` }))
  }
  for (const { address } of http?.untrusted_proxies ?? []) tell(true, t('health.problem.proxy', { address }))
  return found
}
