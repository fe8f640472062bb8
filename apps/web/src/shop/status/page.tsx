import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { StatusPage as Status } from '@netlet/contract'
import { useSearchParams } from 'react-router'
import { ApiError } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { status } from '../../api/routes.ts'
import { useT } from '../../i18n/status.ts'
import { useLanguage } from '../../i18n/language.ts'
import { ToneIcon } from '../../kit/state-badge.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { momentText } from '../../kit/time.tsx'
import { numberIn } from '../../kit/use-address.ts'
import { useTitle } from '../../kit/use-title.ts'
import { IncidentCard } from './incident.tsx'
import { LinkCard } from './link-card.tsx'
import { LocationCard, TONES } from './location.tsx'
import classes from './status.module.css'
import { SubscribeForm } from './subscribe-form.tsx'

/** Milliseconds between polls. */
const FOLLOW = 60_000

/** The public status page: locations now and over time, incidents, and the subscription to mails. */
export default function StatusPage() {
  const t = useT()
  const [query] = useSearchParams()
  useTitle(t('title'))
  const { data, error, refetch } = useQuery({ ...read(status.page), refetchInterval: FOLLOW })
  const confirm = query.get('confirm')
  const unsubscribe = query.get('unsubscribe')
  const asked = numberIn(query, 'incident')
  return (
    <div className={`wide page ${classes.page}`}>
      <div className="stack">
        <h1>{t('title')}</h1>
        <p className="dim">{t('lead')}</p>
      </div>
      {confirm !== null && <LinkCard key={confirm} what="confirm" token={confirm} />}
      {unsubscribe !== null && <LinkCard key={unsubscribe} what="end" token={unsubscribe} />}
      {asked !== undefined && <Asked id={asked} />}
      {data ? (
        <Shown status={data} />
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height="100vh" />
      )}
      <SubscribeForm />
    </div>
  )
}

function Shown({ status: { at, state, locations, from, current, past } }: { status: Status }) {
  const t = useT()
  const language = useLanguage()
  return (
    <>
      <div className={`card ${classes.summary}`} data-state={state}>
        <strong>
          <ToneIcon tone={TONES[state]} size={22} /> {t(`all.${state}`)}
        </strong>
        <span className="dim">{t('at', { at: momentText(at, language) })}</span>
      </div>
      <section className="stack" aria-labelledby="current">
        <h2 id="current">{t('current')}</h2>
        {current.length === 0 && <p className="dim">{t('currentNone')}</p>}
        {current.map(incident => (
          <IncidentCard key={incident.id} incident={incident} />
        ))}
      </section>
      <section className="stack" aria-labelledby="locations">
        <h2 id="locations">{t('locations')}</h2>
        {locations.length === 0 && <p className="dim">{t('none')}</p>}
        {locations.map(location => (
          <LocationCard key={location.id} location={location} from={from} />
        ))}
        {locations.length > 0 && <p className="dim">{t('share.explained')}</p>}
      </section>
      <section className="stack" aria-labelledby="past">
        <h2 id="past">{t('past')}</h2>
        {past.length === 0 && <p className="dim">{t('pastNone')}</p>}
        {past.map(incident => (
          <IncidentCard key={incident.id} incident={incident} />
        ))}
      </section>
    </>
  )
}

/** The incident that a mail or order links to. It may be older than those listed. */
function Asked({ id }: { id: number }) {
  const t = useT()
  const { data, error, refetch } = useQuery(read(status.publicIncident, { params: { id } }))
  return (
    <section className="stack" aria-labelledby="asked">
      <h2 id="asked">{t('asked')}</h2>
      {data ? (
        <IncidentCard incident={data} />
      ) : error instanceof ApiError && error.status === 404 ? (
        <p role="alert">{t('askedGone')}</p>
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height={160} />
      )}
    </section>
  )
}
