import { Button, Skeleton } from '@mantine/core'
import type { BulkRun, OutageEntry, OutageOrder } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { OUTAGE_STATES } from '@netlet/contract/states'
import { INCIDENT_SEVERITIES, INCIDENT_STATES } from '@netlet/contract/status-states'
import { IconClockPlus, IconLink, IconServerCog, IconSpeakerphone } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { fleet, status } from '../../api/routes.ts'
import { useMay } from '../../api/session.ts'
import { t, useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { currentLanguage, useLanguage } from '../../i18n/language.ts'
import { ask } from '../../kit/confirm.ts'
import { durationText } from '../../kit/money.ts'
import { notify } from '../../kit/notify.ts'
import { IncidentForm, OutageIncidentForm } from '../../kit/schemas.ts'
import { StateBadge, type Tone } from '../../kit/state-badge.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { Moment, momentText } from '../../kit/time.tsx'
import { useAddressPaging } from '../../kit/use-paging.ts'
import { SeverityInput, StateInput, useLocations } from '../incidents/cells.tsx'
import {
  type Column,
  DataTable,
  type Fact,
  FactList,
  type Field,
  type Tools,
  areaField,
  choiceField,
  column,
  defineResource,
  idField,
  idFilter,
  idsField,
  instantField,
  integer,
  oneOf,
  optional,
  textField
} from '../kit/index.ts'
import { OrderLink } from '../orders/cells.tsx'
import { useServers } from '../servers/state.ts'
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

/** Asks with the current plan, credits the time, and shows the run above the list. */
async function credit(outage: OutageEntry, { t, watch, refresh }: Tools): Promise<void> {
  try {
    const note = await ask(await creditQuestion(t, outage, currentLanguage()))
    if (!note) return
    const run = await call(fleet.creditOutage, { params: { id: outage.id }, body: note })
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
function OutageDrawer({ id, tools }: Props) {
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

const outageOf = (row: Record<string, unknown>) => row as unknown as OutageEntry

/** An incident prefilled from the outage. It can be edited before it is published. */
const proposedFields: readonly Field[] = [
  {
    ...textField('title'),
    shown: (_value, row) =>
      t('outages.proposedTitle', {
        locations: (outageOf(row).locations ?? []).map(({ name }) => name).join(', ')
      })
  },
  { ...choiceField('severity', INCIDENT_SEVERITIES, ''), Input: SeverityInput, shown: () => 'major' },
  idsField('locations', { useOptions: useLocations }),
  optional(instantField('started_at')),
  {
    ...choiceField('state', INCIDENT_STATES, ''),
    Input: StateInput,
    shown: (_value, row) => (outageOf(row).ended_at ? 'resolved' : 'investigating')
  },
  { ...optional(areaField('text', { shown: () => '' })), help: say => say('incidents.textHelp') }
]

/** The number of recent incidents to choose from. */
const NEWEST = 100

const useIncidents = () =>
  (useQuery(read(status.incidents, { query: { limit: NEWEST } })).data?.data ?? []).map(({ id, title }) => ({
    value: String(id),
    label: title
  }))

/** Times when servers did not answer, the orders affected, and credits. */
export default defineResource({
  key: 'outages',
  list: fleet.allOutages,
  addressOfDrawer: ['orders_page'],
  also: [fleet.outage, fleet.outageOrders, fleet.previewCredit, status.incidents, status.page],
  nameOf: ({ server, started_at }) => `${server.name}, ${started_at.slice(0, 16).replace('T', ' ')}`,
  find: id => call(fleet.outage, { params: { id } }),
  problem: ({ state }) => state === 'lasts',
  columns: [
    integer('id', { optional: true }),
    column('server', (outage: OutageEntry) => <ServerCell outage={outage} />, { lead: true }),
    column('started_at', (outage: OutageEntry) => <Moment at={outage.started_at} />),
    column('ended_at', (outage: OutageEntry) => <EndCell outage={outage} />),
    column('length', (outage: OutageEntry) => <LengthCell outage={outage} />, { align: 'end' }),
    integer('orders'),
    column('state', (outage: OutageEntry) => <StateCell outage={outage} />),
    column('incident', (outage: OutageEntry) => <IncidentCell outage={outage} />)
  ],
  sort: ['id'],
  filters: [oneOf('state', OUTAGE_STATES, 'outages.is'), idFilter('server_id', useServers)],
  drawer: OutageDrawer,
  rowActions: [
    {
      name: 'credit',
      icon: IconClockPlus,
      whyNot: ({ state, orders, credited }) =>
        state === 'lasts' ? 'whyNot.lasts' : orders + credited > 0 ? undefined : 'whyNot.nobodyConcerned',
      route: fleet.creditOutage,
      confirm: (t, outage) => creditQuestion(t, outage, currentLanguage()),
      success: t => t('outages.creditBegun'),
      done: (reply, { watch }) => {
        const run = reply as BulkRun | null
        if (run) watch(run.id)
      }
    },
    {
      name: 'writeIncident',
      icon: IconSpeakerphone,
      whyNot: ({ incident }) => (incident ? 'whyNot.hasIncident' : undefined),
      form: { schema: IncidentForm, fields: proposedFields, route: status.incidentOfOutage },
      success: t => t('incidents.updated')
    },
    {
      name: 'nameIncident',
      icon: IconLink,
      form: {
        schema: OutageIncidentForm,
        fields: [
          {
            ...idField('incident_id', { useOptions: useIncidents, useNone: () => t('outages.noIncident') }),
            shown: (_value, row) => String((row as OutageEntry).incident?.id ?? ''),
            sent: value => (value === '' ? null : Number(value))
          }
        ],
        route: status.nameIncident
      },
      success: say => say('outages.incidentNamed')
    },
    {
      name: 'toServer',
      icon: IconServerCog,
      run: ({ server }, { go }) => go(`${pageAt('servers')}?open=${server.id}`)
    }
  ],
  remove: {
    route: fleet.removeOutage,
    whyNot: ({ by_hand, credited }) => (!by_hand ? 'whyNot.byChecks' : credited > 0 ? 'whyNot.credited' : undefined),
    confirm: (t, { server, started_at, ended_at, orders }) => ({
      title: t('list.deleteTitle'),
      body: t('outages.deleteBody', {
        server: server.name,
        from: momentText(started_at, currentLanguage()),
        to: ended_at ? momentText(ended_at, currentLanguage()) : '–',
        count: orders
      }),
      danger: true
    }),
    // Undo adds the outage again. It cannot restore the link to an incident, so there is none then.
    undo: ({ server, started_at, ended_at, incident }) =>
      ended_at === null || incident
        ? undefined
        : { route: fleet.addOutage, input: { params: { id: server.id }, body: { started_at, ended_at } } }
  },
  csv: true
})
