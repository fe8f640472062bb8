import type { Health } from '@netlet/contract'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import { Ago, Moment } from '../../kit/time.tsx'
import { FactList, type Fact, type T } from '../kit/index.ts'
import { nameOf } from '../tasks/name.ts'
import classes from './health.module.css'

/** One part of the shop: its facts, or that they could not be read. */
function Section({ title, facts }: { title: string; facts: readonly Fact[] | null }) {
  const t = useT()
  return (
    <section className="card stack panel breaks" style={{ gap: '0.8rem' }} aria-label={title}>
      <h3>{title}</h3>
      {facts ? <FactList layout="rows" facts={facts} /> : <p className="dim">{t('health.unread')}</p>}
    </section>
  )
}

function When({ at }: { at: string | null | undefined }) {
  const t = useT()
  return at ? <Ago at={at} /> : <span className="dim">{t('health.never')}</span>
}

const megabytes = (bytes: number): string => `${numberText(Math.round(bytes / 1_048_576))} MB`

type Strangers = NonNullable<Health['platform']>['webhooks']['strangers']

function strangersOf(strangers: Strangers, t: T): Fact[] {
  if (!strangers) return []
  const { count, at, domain } = strangers
  const named = domain === '' ? '' : ` (${domain})`
  return [[`${t('health.strangers', { count: numberText(count) })}${named}`, <When key="strangers" at={at} />]]
}

export function Sections({ health: { platform, jobs, servers, mail, database, http } }: { health: Health }) {
  const t = useT()
  return (
    <div className={classes.sections}>
      <Section
        title={t('health.platform')}
        facts={
          platform && [
            [t('health.shop'), platform.shop.name ?? '–'],
            [t('health.currency'), platform.shop.currency ?? '–'],
            [t('health.apiVersion'), platform.versions.replies ?? '–'],
            [t('health.looked'), <When key="at" at={platform.shop.at} />],
            [t('health.reconciliation'), <When key="at" at={platform.reconciliation.at} />],
            [t('health.products'), <When key="at" at={platform.products.at} />],
            [t('health.prices'), <When key="at" at={platform.prices.at} />]
          ]
        }
      />
      <Section
        title={t('health.webhooks')}
        facts={
          platform && [
            [t('health.address'), platform.webhooks.address],
            [t('health.subscriptions'), `${platform.webhooks.present.length} / ${platform.webhooks.wanted.length}`],
            ...platform.webhooks.last_events.map(({ topic, at }) => [topic, <When key={topic} at={at} />] as const),
            [t('health.waiting'), numberText(platform.events.waiting)],
            [t('health.webhookVersion'), platform.versions.webhooks ?? '–'],
            ...(platform.webhooks.signed
              ? ([
                  [
                    t(`health.signed.${platform.webhooks.signed.by}`),
                    <When key="signed" at={platform.webhooks.signed.at} />
                  ]
                ] as const)
              : []),
            ...(platform.webhooks.former_until
              ? ([[t('health.formerUntil'), <Moment key="until" at={platform.webhooks.former_until} />]] as const)
              : []),
            ...platform.webhooks.refused.map(
              ({ kind, count, at }) =>
                [t(`health.refused.${kind}`, { count: numberText(count) }), <When key={kind} at={at} />] as const
            ),
            ...strangersOf(platform.webhooks.strangers, t)
          ]
        }
      />
      <Section
        title={t('health.jobs')}
        facts={
          jobs &&
          (jobs.queues.length > 0
            ? jobs.queues.map(({ name, waiting, active, dead }) => [
                nameOf(t, name),
                t('health.queue', { waiting, active, dead })
              ])
            : [[t('health.waiting'), '0']])
        }
      />
      <Section
        title={t('health.servers')}
        facts={
          servers && [
            [t('health.reachable'), `${servers.reachable} / ${servers.total}`],
            ...servers.unreachable.map(({ id, name, since }) => [name, <When key={id} at={since} />] as const),
            ...servers.troubled.map(({ name, message }) => [name, message] as const),
            ...servers.certificates.map(
              ({ name, days_left: days }) =>
                [
                  t('health.certificate', { name }),
                  t(days < 0 ? 'health.certificateEnded' : 'health.daysLeft', { count: numberText(days) })
                ] as const
            )
          ]
        }
      />
      <Section
        title={t('health.mail')}
        facts={
          mail && [
            [t('health.waiting'), numberText(mail.waiting)],
            [t('health.failed'), numberText(mail.failed)]
          ]
        }
      />
      <Section
        title={t('health.database')}
        facts={
          database && [
            [t('health.size'), megabytes(database.bytes)],
            [t('health.connections'), `${database.connections} / ${database.max_connections}`],
            [t('health.pool'), t('health.poolFigures', database.pool)]
          ]
        }
      />
      <Section title={t('health.http')} facts={http && [[t('health.publicUrl'), http.public_url]]} />
    </div>
  )
}
