import type { WebhookDelivery, WebhookDeliveryDetail, WebhookEndpoint } from '@netlet/contract'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { webhooks } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../notify.ts'
import { ErrorState } from '../states.tsx'
import { Ago, Moment } from '../time.tsx'
import classes from './webhooks.module.css'
import { StateBadge, StateWithDetails } from '../state-badge.tsx'

/** Milliseconds between polls while the delivery is waiting. */
const WATCH = 2500

type Props = {
  id: number
  /** An operator's view of any endpoint, rather than the user's own. */
  ofAll: boolean
  canResend: boolean
}

/** One delivery: its content, each attempt with the start of the answer, and a button to resend. */
export function Delivery({ id, ofAll, canResend }: Props) {
  const t = useT()
  const { data, error, refetch } = useQuery({
    ...read(ofAll ? webhooks.anyDelivery : webhooks.delivery, { params: { id } }),
    refetchInterval: query => (query.state.data?.state === 'waiting' ? WATCH : false)
  })
  const resend = useMutation({
    mutationFn: () => call(ofAll ? webhooks.resendAny : webhooks.resend, { params: { id } }),
    onSuccess: () => notify('good', t('hooks.resent')),
    onError: failure => notify('bad', failureText(failure)),
    onSettled: () => refresh(webhooks.deliveries, webhooks.delivery, webhooks.allDeliveries, webhooks.anyDelivery)
  })
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={320} />
  return (
    <div className="stack">
      <Facts of={data} />
      {canResend && (
        <div className="row">
          <Button
            size="sm"
            variant="default"
            disabled={data.state === 'waiting'}
            loading={resend.isPending}
            onClick={() => resend.mutate()}
          >
            {t('hooks.resend')}
          </Button>
          {data.state === 'waiting' && <span className="dim">{t('hooks.waitsStill')}</span>}
        </div>
      )}
      <section className="stack" aria-label={t('hooks.payload')}>
        <h3>{t('hooks.payload')}</h3>
        <pre className={classes.text}>{pretty(data.payload)}</pre>
      </section>
      <section className="stack" aria-label={t('hooks.attempts')}>
        <h3>{t('hooks.attempts')}</h3>
        {data.attempts.length === 0 && <p className="dim">{t('hooks.noAttempts')}</p>}
        <ol className="stack" style={{ gap: '0.75rem' }}>
          {data.attempts.toReversed().map(attempt => (
            <li key={attempt.at}>
              <p>
                <Moment at={attempt.at} /> · <Outcome of={attempt} /> ·{' '}
                <span className="num">{t('hooks.ms', { ms: attempt.duration_ms })}</span>
                {attempt.detail && <span className="dim"> ({attempt.detail})</span>}
              </p>
              {attempt.answer && <pre className={classes.text}>{attempt.answer}</pre>}
            </li>
          ))}
        </ol>
      </section>
    </div>
  )
}

function Facts({ of: delivery }: { of: WebhookDeliveryDetail }) {
  const t = useT()
  return (
    <dl className={classes.details}>
      <dt>{t('hooks.eventTitle')}</dt>
      <dd>
        {t(`hooks.event.${delivery.event}`)} <span className="mono dim">{delivery.event}</span>
      </dd>
      <dt>{t('hooks.id')}</dt>
      <dd className="mono">{delivery.event_id}</dd>
      <dt>{t('hooks.url')}</dt>
      <dd className="mono">{delivery.url}</dd>
      <dt>{t('hooks.state')}</dt>
      <dd>
        <DeliveryState delivery={delivery} />
      </dd>
    </dl>
  )
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Whether it is enabled; if not, why; if deliveries fail, since when. */
export function EndpointState({ endpoint }: { endpoint: WebhookEndpoint }) {
  const t = useT()
  const { enabled, off_reason: why, failing_since: since } = endpoint
  if (!enabled)
    return (
      <StateWithDetails>
        <StateBadge tone={why ? 'bad' : 'off'}>{t('hooks.off')}</StateBadge>
        {why && <span className="dim">{t(`hooks.off.${why}`)}</span>}
      </StateWithDetails>
    )
  if (!since) return <StateBadge tone="good">{t('hooks.on')}</StateBadge>
  return (
    <StateWithDetails>
      <StateBadge tone="bad">{t('hooks.failing')}</StateBadge>
      <span className="dim">
        {t('hooks.since')} <Ago at={since} />
      </span>
    </StateWithDetails>
  )
}

const TONES = { waiting: 'wait', sent: 'good', failed: 'bad', cancelled: 'off' } as const

export function DeliveryState({ delivery }: { delivery: WebhookDelivery }) {
  const t = useT()
  const { state, failure, next_try_at: next, tries } = delivery
  return (
    <StateWithDetails>
      <StateBadge tone={state === 'waiting' && failure ? 'bad' : TONES[state]}>{t(`hooks.is.${state}`)}</StateBadge>
      {failure && <Outcome of={delivery} />}
      {next && tries > 0 && (
        <span className="dim">
          {t('hooks.nextTry')} <Ago at={next} />
        </span>
      )}
    </StateWithDetails>
  )
}

/** An answer's status, or why there was none. */
function Outcome({ of: { status, failure } }: { of: Pick<WebhookDelivery, 'status' | 'failure'> }) {
  const t = useT()
  if (failure === null) return <span className="num">{status ?? '–'}</span>
  if (failure === 'status') return <span className="num">{t('hooks.why.status', { status: status ?? 0 })}</span>
  return <span>{t(`hooks.why.${failure}`)}</span>
}
