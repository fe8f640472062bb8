import type { WebhookDeliveryDetail } from '@netlet/contract'
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
import { Moment } from '../time.tsx'
import { DeliveryState, Outcome } from './cells.tsx'
import classes from './webhooks.module.css'

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
