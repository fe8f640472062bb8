import { Button, Skeleton, Textarea } from '@mantine/core'
import type { Incident, IncidentUpdate } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { INCIDENT_SEVERITIES, INCIDENT_STATES, INCIDENT_VIEWS } from '@netlet/contract/status-states'
import { IconExternalLink, IconSpeakerphone } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { fleet, status } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useT as useStatusT } from '../../i18n/status.ts'
import { none } from '../../kit/none.tsx'
import { IncidentForm, IncidentUpdateForm } from '../../kit/schemas.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Moment } from '../../kit/time.tsx'
import {
  AuditLink,
  type Fact,
  FactList,
  May,
  type Tools,
  WorkButton,
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
  textField,
  useCommand
} from '../kit/index.ts'
import { SeverityCell, SeverityInput, StateCell, StateInput, useLocations } from './cells.tsx'

type Props = { id: number; row: Incident | undefined; tools: Tools }

/** An incident beside the list: its updates, and the outages linked to it. */
function IncidentDrawer({ id, row, tools }: Props) {
  const t = useT()
  // The list already has it and keeps it current.
  const { data, error, refetch } = useQuery({ ...read(status.incident, { params: { id } }), enabled: !row })
  const incident = row ?? data
  if (error && !incident) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!incident) return <Skeleton height={320} />
  return (
    <div className="stack">
      <Facts incident={incident} />
      {incident.state !== 'completed' && (
        <May make={status.addUpdate}>
          <div>
            <Button size="sm" onClick={() => tools.form('addUpdate', id)}>
              {t('incidents.addUpdate')}
            </Button>
          </div>
        </May>
      )}
      <section className="stack" aria-label={t('incidents.updates')}>
        <h3 className="size-lead">{t('incidents.updates')}</h3>
        <ol className="stack">
          {incident.updates.map(update => (
            <Update key={update.id} update={update} />
          ))}
        </ol>
      </section>
      <AuditLink of="incident" id={id} />
    </div>
  )
}

function Facts({ incident }: { incident: Incident }) {
  const t = useT()
  const { locations, started_at, ends_at, resolved_at, created_by, outages } = incident
  const facts: Fact[] = [
    [t('incidents.severity'), <SeverityCell incident={incident} />],
    [t('incidents.state'), <StateCell incident={incident} />],
    [t('incidents.locations'), locations.map(({ name }) => name).join(', ')],
    [t('incidents.started_at'), <Moment at={started_at} />],
    [t('incidents.ends_at'), ends_at && <Moment at={ends_at} />],
    [t('incidents.resolved_at'), resolved_at && <Moment at={resolved_at} />],
    [t('incidents.created_by'), created_by],
    [
      t('incidents.outages'),
      outages.length > 0 && (
        <ul>
          {outages.map(({ id, server, started_at: from }) => (
            <li key={id}>
              <Link to={`${pageAt('outages')}?open=${id}`}>{server}</Link> <Moment at={from} />
            </li>
          ))}
        </ul>
      )
    ]
  ]
  return <FactList layout="rows" label={t('incidents.one')} facts={facts} />
}

/** An update's text, which can be corrected. */
function Update({ update: { id, state, text, at } }: { update: IncidentUpdate }) {
  const t = useT()
  const statusT = useStatusT()
  const [typed, setTyped] = useState<string | null>(null)
  const correct = useCommand(status.correctUpdate, {
    success: t('incidents.corrected'),
    invalidate: [status.incidents, status.incident, status.page, status.publicIncident]
  })
  const save = async () => {
    if (await correct.run({ params: { id }, body: { text: typed ?? '', was: text } })) setTyped(null)
  }
  return (
    <li className="stack">
      <span className="row">
        <strong>{statusT(`state.${state}`)}</strong>
        <span className="dim">
          <Moment at={at} />
        </span>
        {typed === null && (
          <May make={status.correctUpdate}>
            <Button variant="subtle" size="compact-sm" onClick={() => setTyped(text)}>
              {t('incidents.correct')}
            </Button>
          </May>
        )}
      </span>
      {typed === null ? (
        <p className="lines">{text || t('incidents.ownEnd')}</p>
      ) : (
        <>
          <Textarea
            aria-label={t('incidents.correct')}
            rows={4}
            value={typed}
            autoFocus
            onChange={event => setTyped(event.currentTarget.value)}
          />
          <span className="row">
            <WorkButton size="sm" working={correct.running} onClick={() => void save()}>
              {t('form.save')}
            </WorkButton>
            <Button variant="default" size="sm" onClick={() => setTyped(null)}>
              {t('form.cancel')}
            </Button>
          </span>
        </>
      )}
    </li>
  )
}

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
