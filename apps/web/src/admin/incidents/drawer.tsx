import type { Incident, IncidentUpdate } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Button, Skeleton, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { status } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useT as useStatusT } from '../../i18n/status.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Moment } from '../../kit/time.tsx'
import { AuditLink, FactList, May, useCommand, WorkButton, type Fact, type Tools } from '../kit/index.ts'
import { SeverityCell, StateCell } from './cells.tsx'

type Props = { id: number; row: Incident | undefined; tools: Tools }

/** An incident beside the list: its updates, and the outages linked to it. */
export function IncidentDrawer({ id, row, tools }: Props) {
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
