import { Skeleton } from '@mantine/core'
import type { Health, PriceDrift, RetentionFigures } from '@netlet/contract'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog, settings } from '../../api/routes.ts'
import { useMay } from '../../api/session.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { money, numberText, unitText } from '../../kit/money.ts'
import { none } from '../../kit/none.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { Ago, Moment } from '../../kit/time.tsx'
import { useAddressPaging } from '../../kit/use-paging.ts'
import { AbuseAlarms } from '../abuse/alarms.tsx'
import {
  type Column,
  DataTable,
  type Fact,
  FactList,
  ListSection,
  May,
  type T,
  useCommand,
  WorkButton
} from '../kit/index.ts'
import { PriceChoices } from '../price-drift/choices.tsx'
import { ProofAlarms } from '../proofs/alarms.tsx'
import { nameOf } from '../tasks/dead-letters.tsx'
import classes from './health.module.css'
import { problemsOf } from './problems.ts'
import '../kit/styles.ts'

/** The section's anchor, and the name of its pages in the address. */
const PRICES = 'prices'

/** Prices that differ from the platform's, with buttons to resolve each. */
function PriceDriftList() {
  const t = useT()
  const paging = useAddressPaging(20, { name: PRICES })
  const query = useQuery(read(catalog.priceDrift, { query: { limit: paging.size, offset: paging.offset } }))
  const columns: Column<PriceDrift>[] = [
    { key: 'name', title: t('health.drift.name'), render: row => row.name, lead: true },
    { key: 'price', title: t('health.drift.ours'), render: row => money(row.price), align: 'end' },
    { key: 'platform', title: t('health.drift.platform'), render: row => money(row.platform_price), align: 'end' },
    { key: 'since', title: t('health.drift.since'), render: row => <Ago at={row.since} /> },
    { key: 'actions', title: t('list.actions'), hidden: true, render: row => <PriceChoices drift={row} /> }
  ]
  return (
    <ListSection
      id={PRICES}
      title={t('health.drift.title')}
      query={query}
      columns={columns}
      rows={query.data?.data}
      rowKey={row => row.id}
      empty={{ title: t('health.drift.none'), body: t('health.drift.noneHint') }}
      paging={paging}
      total={query.data?.total}
    />
  )
}

/** Queues and mail change constantly, and the change feed does not report them. */
const EVERY = 15_000

/** The health of the shop and its dependencies, what needs attention, and actions. */
export default function HealthPage() {
  const t = useT()
  const { may } = useMay()
  const { data, error, refetch } = useQuery({ ...read(settings.health), refetchInterval: EVERY })
  const invalidate = [settings.health, catalog.priceDrift]
  const check = useCommand(settings.checkHealth, { invalidate, success: t('health.checked') })
  const reread = useCommand(catalog.rereadProducts, { invalidate, success: t('health.rereadAsked') })
  const foreign = data?.platform?.webhooks.foreign ?? []
  const takeOver = useCommand(settings.takeOverWebhooks, {
    invalidate,
    confirm: {
      title: t('health.takeOver'),
      body: t('health.takeOverBody', { origins: foreign.join(', '), address: data?.platform?.webhooks.address ?? '' }),
      danger: true
    }
  })
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  const problems = data ? problemsOf(data, t, may) : []
  return (
    <div className={`stack ${classes.page}`}>
      <div className="row" style={{ gap: '0.6rem' }}>
        <May make={settings.checkHealth}>
          <WorkButton
            leftSection={<IconRefresh size={18} aria-hidden />}
            working={check.running}
            onClick={() => void check.run({})}
          >
            {t('health.check')}
          </WorkButton>
        </May>
        <May make={catalog.rereadProducts}>
          <WorkButton variant="default" working={reread.running} onClick={() => void reread.run({})}>
            {t('health.reread')}
          </WorkButton>
        </May>
        {foreign.length > 0 && (
          <May make={settings.takeOverWebhooks}>
            <WorkButton variant="default" color="red" working={takeOver.running} onClick={() => void takeOver.run({})}>
              {t('health.takeOver')}
            </WorkButton>
          </May>
        )}
      </div>
      {data ? (
        <>
          {problems.length > 0 ? (
            <ul className={`card ${classes.problems}`} aria-label={t('health.problems')}>
              {problems.map(({ text, to }) => (
                <li key={text}>{to ? <Link to={to}>{text}</Link> : text}</li>
              ))}
            </ul>
          ) : (
            <p className={`card ${classes.good}`}>{t('health.good')}</p>
          )}
          <Sections health={data} />
          <ProofAlarms />
          <AbuseAlarms />
          <PriceDriftList />
          <RetentionPanel />
        </>
      ) : (
        <Skeleton height={320} aria-label={t('health.loading')} />
      )}
    </div>
  )
}

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

function Sections({ health: { platform, jobs, servers, mail, database, http } }: { health: Health }) {
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
            [t('health.pool'), t('health.poolFigures', database.pool)],
            [t('health.rehearsal'), <When key="rehearsal" at={database.rehearsal?.at} />]
          ]
        }
      />
      <Section title={t('health.http')} facts={http && [[t('health.publicUrl'), http.public_url]]} />
    </div>
  )
}

/** What grows in the database: retention, current size and the last clean-up. */
export function RetentionPanel() {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery(read(settings.retention))
  const columns: Column<RetentionFigures>[] = [
    { key: 'what', title: t('retention.what'), render: row => <What entry={row} />, lead: true },
    { key: 'kept', title: t('retention.kept'), render: row => <Kept entry={row} /> },
    {
      key: 'rows',
      title: t('retention.rows'),
      render: ({ rows }) => (rows === null ? none : numberText(rows)),
      align: 'end'
    },
    { key: 'oldest', title: t('retention.oldest'), render: row => (row.oldest ? <Ago at={row.oldest} /> : none) },
    { key: 'removed', title: t('retention.removed'), render: row => <Removed entry={row} /> }
  ]
  return (
    <section aria-label={t('retention.title')}>
      <h3>{t('retention.title')}</h3>
      <DataTable
        label={t('retention.title')}
        columns={columns}
        rows={data}
        rowKey={row => row.what}
        pending={isPending}
        error={error}
        errorText={t('retention.failed')}
        onRetry={() => void refetch()}
        empty={{ title: t('retention.none') }}
      />
    </section>
  )
}

/** What it is, and the reason for its retention. */
function What({ entry: { what } }: { entry: RetentionFigures }) {
  const t = useT()
  return (
    <div className={classes.what}>
      {t(`retention.of.${what}`)}
      <span className="dim">{t(`retention.why.${what}`)}</span>
    </div>
  )
}

function Removed({ entry: { removed, removed_at: at } }: { entry: RetentionFigures }) {
  if (!at) return none
  return (
    <>
      {numberText(removed)}, <Ago at={at} />
    </>
  )
}

/** '30 days', or "until it expires". */
function Kept({ entry: { keep_hours: hours } }: { entry: RetentionFigures }) {
  const t = useT()
  const language = useLanguage()
  if (hours === 0) return t('retention.untilExpiry')
  const [value, unit] = hours >= 48 ? [hours / 24, 'day'] : hours >= 1 ? [hours, 'hour'] : [hours * 60, 'minute']
  return unitText(Math.round(value), language, { unit, unitDisplay: 'long' })
}
