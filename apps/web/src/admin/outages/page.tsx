import type { BulkRun, OutageEntry } from '@netlet/contract'
import { OUTAGE_STATES } from '@netlet/contract/states'
import { pageAt } from '@netlet/contract/pages'
import { IconClockPlus, IconLink, IconServerCog, IconSpeakerphone } from '@tabler/icons-react'
import { call } from '../../api/client.ts'
import { fleet, status } from '../../api/routes.ts'
import { t } from '../../i18n/admin.ts'
import { currentLanguage } from '../../i18n/language.ts'
import {
  type Field,
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
import { IncidentForm, OutageIncidentForm } from '../../kit/schemas.ts'
import { Moment, momentText } from '../../kit/time.tsx'
import { useServers } from '../servers/options.ts'
import { EndCell, IncidentCell, LengthCell, ServerCell, StateCell, creditQuestion } from './cells.tsx'
import { OutageDrawer } from './drawer.tsx'
import { INCIDENT_SEVERITIES, INCIDENT_STATES } from '@netlet/contract/status-states'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { SeverityInput, StateInput, useLocations } from '../incidents/cells.tsx'

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
