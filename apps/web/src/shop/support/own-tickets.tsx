import { Button } from '@mantine/core'
import type { OwnTicket, Page } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import type { TicketState } from '@netlet/contract/states'
import { Link } from 'react-router'
import { useT } from '../../i18n/support.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { Ago } from '../../kit/time.tsx'
import classes from './support.module.css'

const TONES = { open: 'wait', answered: 'good', closed: 'off' } as const

export function OwnState({ state }: { state: TicketState }) {
  const t = useT()
  return <StateBadge tone={TONES[state]}>{t(`is.${state}`)}</StateBadge>
}

type Props = { tickets: Page<OwnTicket>; onMore: () => void }

/** The account's tickets, newest first: state and last message. */
export function OwnTickets({ tickets: { data, total }, onMore }: Props) {
  const t = useT()
  return (
    <section className={`card ${classes.box}`} aria-labelledby="own-tickets">
      <h2 id="own-tickets">{t('yours')}</h2>
      {data.length === 0 && <p className="dim">{t('none')}</p>}
      <ul className={`ruled ${classes.own}`}>
        {data.map(({ id, state, last }) => (
          <li key={id}>
            <p className="row between" style={{ gap: '0.25rem 0.75rem' }}>
              <Link to={`${pageAt('support')}?ticket=${id}`}>{t('one', { id })}</Link>
              <OwnState state={state} />
            </p>
            <p className="clamped breaks size-body">
              <span className="dim">{t(last.author === 'customer' ? 'you' : 'us')}: </span>
              {last.text}
            </p>
            <p className="dim size-label">
              <Ago at={last.created_at} />
            </p>
          </li>
        ))}
      </ul>
      {data.length < total && (
        <div>
          <Button variant="default" size="sm" onClick={onMore}>
            {t('more')}
          </Button>
        </div>
      )}
    </section>
  )
}
