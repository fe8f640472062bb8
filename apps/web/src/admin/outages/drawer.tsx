import type { OutageEntry, OutageOrder } from '@netlet/contract'
import { Button, Skeleton } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMay } from '../../api/may.ts'
import { read } from '../../api/query.ts'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { currentLanguage, useLanguage } from '../../i18n/language.ts'
import { durationText } from '../../kit/duration.ts'
import { StateBadge, type Tone } from '../../kit/state-badge.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { Moment } from '../../kit/time.tsx'
import { useAddressPaging } from '../../kit/use-paging.ts'
import { type Column, DataTable, type Fact, FactList, type Tools } from '../kit/index.ts'
import { OrderLink } from '../orders/order-link.tsx'
import {
  EndCell,
  IncidentCell,
  LengthCell,
  ServerCell,
  StateCell,
  creditQuestion,
  incidentLine,
  planLines
} from './cells.tsx'
import { call } from '../../api/client.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'

/** Asks with the current plan, credits the time, and shows the run above the list. */
async function credit(outage: OutageEntry, { t, watch, refresh }: Tools): Promise<void> {
  try {
    if (!(await confirm(await creditQuestion(t, outage, currentLanguage())))) return
    const run = await call(fleet.creditOutage, { params: { id: outage.id } })
    if (run) watch(run.id)
    notify('good', t(run ? 'outages.creditBegun' : 'outages.planNone'))
  } catch (error) {
    notify('bad', failureText(error))
  }
  refresh()
}

const PER_PAGE = 10

type Props = { id: number; row: OutageEntry | undefined; tools: Tools }

/** An outage beside the list: what a credit would do, and the affected orders. */
export function OutageDrawer({ id, tools }: Props) {
  const { data, error, refetch } = useQuery(read(fleet.outage, { params: { id } }))
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={320} />
  return (
    <div className="stack">
      <Facts outage={data} />
      <Plan outage={data} tools={tools} />
      <Orders outage={data} />
    </div>
  )
}

function Facts({ outage }: { outage: OutageEntry }) {
  const t = useT()
  const facts: Fact[] = [
    [t('outages.server'), <ServerCell outage={outage} />],
    [t('outages.started_at'), <Moment at={outage.started_at} />],
    [t('outages.ended_at'), <EndCell outage={outage} />],
    [t('outages.length'), <LengthCell outage={outage} />],
    [t('outages.state'), <StateCell outage={outage} />],
    [t('outages.incident'), <IncidentCell outage={outage} />],
    [t('outages.how'), t(outage.by_hand ? 'outages.byHand' : 'outages.bySilence')],
    [
      t('outages.told'),
      outage.announced_at ? <Moment at={outage.announced_at} /> : <span className="dim">{t('outages.notTold')}</span>
    ]
  ]
  return <FactList layout="rows" label={t('outages.one')} facts={facts} />
}

/** What a credit would do now, with the button. */
function Plan({ outage, tools }: { outage: OutageEntry; tools: Tools }) {
  const t = useT()
  const language = useLanguage()
  const { mayCall } = useMay()
  const over = outage.ended_at !== null
  const { data, error, refetch } = useQuery({
    ...read(fleet.previewCredit, { params: { id: outage.id } }),
    enabled: over
  })
  return (
    <section className="stack" aria-label={t('outages.plan')}>
      <h3 className="size-lead">{t('outages.plan')}</h3>
      {!over && <p className="dim">{t('outages.notYet')}</p>}
      {over && error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {over && !error && !data && <Skeleton height={90} />}
      {over && data && (
        <ul className="stack" style={{ gap: '0.3rem', paddingInlineStart: '1.1rem', listStyle: 'disc' }}>
          {[...planLines(t, data, language), incidentLine(t, outage)].map(line => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {data && data.orders + data.ended > 0 && mayCall(fleet.creditOutage) && (
        <div>
          <Button size="sm" onClick={() => void credit(outage, tools)}>
            {t('outages.credit')}
          </Button>
        </div>
      )}
    </section>
  )
}

const TONES: Record<OutageOrder['part'], Tone> = { running: 'wait', grace: 'wait', ended: 'off', credited: 'good' }

function Orders({ outage }: { outage: OutageEntry }) {
  const t = useT()
  const language = useLanguage()
  const paging = useAddressPaging(PER_PAGE, { name: 'orders', resetKey: String(outage.id) })
  const { data, isPending, error, refetch } = useQuery({
    ...read(fleet.outageOrders, { params: { id: outage.id }, query: { limit: paging.limit, offset: paging.offset } }),
    placeholderData: keepPreviousData
  })
  const columns: Column<OutageOrder>[] = [
    {
      key: 'order',
      title: t('outages.order'),
      lead: true,
      render: ({ id, order_id }) => <OrderLink id={id} number={order_id} />
    },
    { key: 'customer', title: t('outages.customer'), render: ({ username }) => username },
    {
      key: 'part',
      title: t('outages.state'),
      render: ({ part }) => <StateBadge tone={TONES[part]}>{t(`outages.part.${part}`)}</StateBadge>
    },
    {
      key: 'lost',
      title: t('outages.lost'),
      align: 'end',
      render: ({ seconds }) => <span className="num">{durationText(seconds, language)}</span>
    }
  ]
  return (
    <section className="stack" aria-label={t('outages.concerned')}>
      <h3 className="size-lead">{t('outages.concerned')}</h3>
      <DataTable
        label={t('outages.concerned')}
        columns={columns}
        rows={data?.data}
        rowKey={({ id }) => id}
        pending={isPending}
        error={error}
        onRetry={() => void refetch()}
        empty={{ title: t('outages.noOrders') }}
        paging={paging}
        total={data?.total}
      />
    </section>
  )
}
