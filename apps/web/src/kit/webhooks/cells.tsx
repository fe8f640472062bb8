import type { WebhookDelivery, WebhookEndpoint } from '@netlet/contract'
import { useT } from '../../i18n/account.ts'
import { StateBadge, StateWithDetails } from '../state-badge.tsx'
import { Ago } from '../time.tsx'

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
export function Outcome({ of: { status, failure } }: { of: Pick<WebhookDelivery, 'status' | 'failure'> }) {
  const t = useT()
  if (failure === null) return <span className="num">{status ?? '–'}</span>
  if (failure === 'status') return <span className="num">{t('hooks.why.status', { status: status ?? 0 })}</span>
  return <span>{t(`hooks.why.${failure}`)}</span>
}
