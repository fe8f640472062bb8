import { Button, Skeleton, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { PublicIncident, StatusPage as Status } from '@netlet/contract'
import { type IncidentSeverity, isEnded } from '@netlet/contract/status-states'
import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { ApiError, call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { status } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { useT as useShopT } from '../../i18n/index.ts'
import { useLanguage } from '../../i18n/language.ts'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/status.ts'
import { rules } from '../../kit/form.ts'
import { SubscribeForm as SubscribeRules } from '../../kit/schemas.ts'
import { StateBadge, type Tone, ToneIcon } from '../../kit/state-badge.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { Moment, momentText } from '../../kit/time.tsx'
import { numberIn } from '../../kit/use-address.ts'
import { useTitle } from '../../kit/use-title.ts'
import { LocationCard, TONES } from './location.tsx'
import classes from './status.module.css'
import '../../kit/styles/forms.ts'

/** Subscribes an address to incident mails after a confirmation. */
function SubscribeForm() {
  const t = useT()
  const shopT = useShopT()
  const language = useLanguage()
  const form = useForm({
    initialValues: { email: '' },
    validate: values => rules(SubscribeRules)({ ...values, language })
  })
  const focusField = () => form.getInputNode('email')?.focus()
  const send = useMutation({
    mutationFn: ({ email }: { email: string }) => call(status.subscribe, { body: { email, language } }),
    onSuccess: () => form.reset(),
    onError: error => {
      const errors = fieldTexts(error)
      form.setErrors(errors)
      if (errors['email']) focusField()
    }
  })
  return (
    <section className={`card stack ${classes.box}`} aria-labelledby="subscribe">
      <h2 id="subscribe">{t('subscribe')}</h2>
      <p className="dim">{t('subscribeHint')}</p>
      <form
        className={`row bottom ${classes.form}`}
        noValidate
        onSubmit={form.onSubmit(values => send.mutate(values), focusField)}
      >
        <TextInput label={shopT('email')} type="email" autoComplete="email" {...form.getInputProps('email')} />
        <Button type="submit" loading={send.isPending}>
          {t('subscribeButton')}
        </Button>
      </form>
      {send.isSuccess && <p role="status">{t('subscribed')}</p>}
      {send.error && <p role="alert">{failureText(send.error, t('failed'))}</p>}
    </section>
  )
}

type Props = { what: 'confirm' | 'end'; token: string }

/** The target of links in mails. It asks first, because mail scanners open every link. */
function LinkCard({ what, token }: Props) {
  const t = useT()
  const act = useMutation({
    mutationFn: () =>
      what === 'confirm' ? call(status.confirm, { body: { token } }) : call(status.unsubscribe, { query: { token } })
  })
  return (
    <section className={`card stack ${classes.box}`} aria-labelledby={`link-${what}`}>
      <h2 id={`link-${what}`}>{t(what === 'confirm' ? 'confirmTitle' : 'endTitle')}</h2>
      {act.isSuccess ? (
        <p role="status">{t(what === 'confirm' ? 'confirmed' : 'endDone')}</p>
      ) : (
        <>
          <p>{t(what === 'confirm' ? 'confirmAsk' : 'endAsk')}</p>
          {act.error && <p role="alert">{failureText(act.error, t('failed'))}</p>}
          <div>
            <Button loading={act.isPending} onClick={() => act.mutate()}>
              {t(what === 'confirm' ? 'confirmButton' : 'endButton')}
            </Button>
          </div>
        </>
      )}
    </section>
  )
}

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
    <div className={`wide page stack ${classes.page}`} style={{ gap: '2rem', maxWidth: '60rem' }}>
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
      <div className={`card row between ${classes.summary}`} data-state={state}>
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

const INCIDENT_TONES: Record<IncidentSeverity, Tone> = {
  minor: 'wait',
  major: 'wait',
  critical: 'bad',
  maintenance: 'busy'
}

function IncidentCard({ incident }: { incident: PublicIncident }) {
  const t = useT()
  const names = useNames()
  const { id, title, severity, state, locations, started_at, ends_at, resolved_at, updates } = incident
  return (
    <article className={`card stack ${classes.box}`} id={`incident-${id}`} aria-label={title}>
      <h3 className="breaks">{title}</h3>
      <p className="row baseline" style={{ gap: '0.25rem 1rem' }}>
        <StateBadge tone={isEnded(state) ? 'good' : INCIDENT_TONES[severity]}>{t(`state.${state}`)}</StateBadge>
        <span>{t(`severity.${severity}`)}</span>
        <span>{locations.map(name => names.word(incident, name)).join(', ')}</span>
      </p>
      <dl className={`row stretch ${classes.times}`} style={{ gap: '0.25rem 1.5rem' }}>
        <div>
          <dt>{t(state === 'scheduled' ? 'begins' : 'since')}</dt>
          <dd>
            <Moment at={started_at} />
          </dd>
        </div>
        {ends_at && !resolved_at && (
          <div>
            <dt>{t('ends')}</dt>
            <dd>
              <Moment at={ends_at} />
            </dd>
          </div>
        )}
        {resolved_at && (
          <div>
            <dt>{t('ended')}</dt>
            <dd>
              <Moment at={resolved_at} />
            </dd>
          </div>
        )}
      </dl>
      <ol className={`stack ${classes.updates}`} style={{ gap: '0.75rem' }}>
        {updates.map(update => (
          <li key={update.id}>
            <span className="row baseline" style={{ gap: '0.25rem 1rem' }}>
              <strong>{t(`state.${update.state}`)}</strong>
              <span className="dim">
                <Moment at={update.at} />
              </span>
            </span>
            {(update.text || isEnded(update.state)) && <p className="lines">{update.text || t('ownEnd')}</p>}
          </li>
        ))}
      </ol>
    </article>
  )
}
