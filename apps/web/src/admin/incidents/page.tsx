import type { Incident } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { INCIDENT_SEVERITIES, INCIDENT_STATES, INCIDENT_VIEWS } from '@netlet/contract/status-states'
import { IconExternalLink, IconSpeakerphone } from '@tabler/icons-react'
import { call } from '../../api/client.ts'
import { fleet, status } from '../../api/routes.ts'
import { IncidentForm, IncidentUpdateForm } from '../../kit/schemas.ts'
import { Moment } from '../../kit/time.tsx'
import {
  areaField,
  choiceField,
  column,
  defineResource,
  figures,
  idsField,
  instantField,
  integer,
  oneOf,
  optional,
  textField
} from '../kit/index.ts'
import { SeverityCell, SeverityInput, StateCell, StateInput, useLocations } from './cells.tsx'
import { IncidentDrawer } from './drawer.tsx'
import { none } from '../../kit/none.tsx'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { useT } from '../../i18n/admin.ts'

function Subscribers() {
  const t = useT()
  const { data } = useQuery(read(status.subscribers))
  return data ? <p className="dim">{t('incidents.subscribers', figures({ count: data.confirmed }))}</p> : null
}

export default defineResource({
  key: 'incidents',
  list: status.incidents,
  also: [status.incident, status.page, status.publicIncident, fleet.allOutages],
  nameOf: incident => incident.title,
  find: id => call(status.incident, { params: { id } }),
  problem: incident => incident.resolved_at === null && incident.severity !== 'maintenance',
  columns: [
    integer('id', { optional: true }),
    column('title', (incident: Incident) => <strong>{incident.title}</strong>, { lead: true }),
    column('severity', (incident: Incident) => <SeverityCell incident={incident} />),
    column('state', (incident: Incident) => <StateCell incident={incident} />),
    column('locations', (incident: Incident) => incident.locations.map(({ name }) => name).join(', '), { wide: true }),
    column('started_at', (incident: Incident) => <Moment at={incident.started_at} />),
    column('resolved_at', (incident: Incident) => (incident.resolved_at ? <Moment at={incident.resolved_at} /> : none))
  ],
  sort: ['id'],
  filters: [oneOf('view', INCIDENT_VIEWS, 'incidents.is')],
  form: {
    schema: IncidentForm,
    create: status.createIncident,
    update: status.updateIncident,
    undo: true,
    fields: [
      textField('title'),
      { ...choiceField('severity', INCIDENT_SEVERITIES, ''), Input: SeverityInput },
      idsField('locations', { useOptions: useLocations }),
      { ...optional(instantField('started_at')), help: t => t('incidents.startHelp') },
      { ...optional(instantField('ends_at')), help: t => t('incidents.endsHelp') },
      {
        ...optional(choiceField('state', INCIDENT_STATES, '')),
        Input: StateInput,
        only: 'new',
        help: t => t('incidents.stateHelp')
      },
      { ...optional(areaField('text')), only: 'new', help: t => t('incidents.textHelp') }
    ]
  },
  rowActions: [
    {
      name: 'addUpdate',
      icon: IconSpeakerphone,
      whyNot: incident => (incident.state === 'completed' ? 'whyNot.incidentOver' : undefined),
      form: {
        schema: IncidentUpdateForm,
        fields: [
          { ...choiceField('state', INCIDENT_STATES, ''), Input: StateInput },
          { ...areaField('text', { shown: () => '' }), help: t => t('incidents.textHelp') }
        ],
        route: status.addUpdate
      },
      success: t => t('incidents.updated')
    },
    {
      name: 'showPage',
      icon: IconExternalLink,
      run: ({ id }, { go }) => go(`${pageAt('status')}?incident=${id}`)
    }
  ],
  remove: {
    route: status.deleteIncident,
    confirm: (t, { title }) => ({
      title: t('list.deleteTitle'),
      body: t('incidents.deleteBody', { title }),
      danger: true
    })
  },
  above: Subscribers,
  drawer: IncidentDrawer,
  csv: true
})
