import '../kit/styles.ts'
import type { PriceDrift } from '@netlet/contract'
import { Skeleton } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { useMay } from '../../api/may.ts'
import { read } from '../../api/query.ts'
import { catalog, settings } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { money } from '../../kit/money.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { useAddressPaging } from '../../kit/use-paging.ts'
import { AbuseAlarms } from '../abuse/alarms.tsx'
import { type Column, ListSection, May, WorkButton, useCommand } from '../kit/index.ts'
import { PriceChoices } from '../price-drift/choices.tsx'
import { ProofAlarms } from '../proofs/alarms.tsx'
import classes from './health.module.css'
import { problemsOf } from './problems.ts'
import { RetentionPanel } from './retention-panel.tsx'
import { Sections } from './sections.tsx'

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
