import type { OutageEntry } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { durationText } from '../../kit/duration.ts'
import { StateBadge, StateWithDetails, type Tone } from '../../kit/state-badge.tsx'
import { Moment } from '../../kit/time.tsx'
import { figures } from '../kit/index.ts'
import classes from './outages.module.css'

type Props = { outage: OutageEntry }

const TONES: Record<OutageEntry['state'], Tone> = { lasts: 'bad', open: 'wait', credited: 'good' }

export const ServerCell = ({ outage: { server } }: Props) => (
  <Link to={`${pageAt('servers')}?open=${server.id}`}>{server.name}</Link>
)

export function EndCell({ outage }: Props) {
  const t = useT()
  return outage.ended_at ? (
    <Moment at={outage.ended_at} />
  ) : (
    <span className={classes.lasts}>{t('outages.lasting')}</span>
  )
}

export function LengthCell({ outage }: Props) {
  const language = useLanguage()
  return <span className="num">{durationText(outage.seconds, language)}</span>
}

/** Whether its time was credited, and to how many orders. */
export function StateCell({ outage: { state, orders, credited } }: Props) {
  const t = useT()
  return (
    <StateWithDetails>
      <StateBadge tone={state === 'open' && orders === 0 ? 'off' : TONES[state]}>
        {t(state === 'open' && orders === 0 ? 'outages.nobody' : `outages.is.${state}`)}
      </StateBadge>
      {credited > 0 && <span className="dim">{t('outages.creditedTo', figures({ credited }))}</span>}
    </StateWithDetails>
  )
}

export function IncidentCell({ outage: { incident } }: Props) {
  return incident ? <Link to={`${pageAt('incidents')}?open=${incident.id}`}>{incident.title}</Link> : '–'
}
