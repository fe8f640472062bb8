import type { PublicIncident } from '@netlet/contract'
import { isEnded, type IncidentSeverity } from '@netlet/contract/status-states'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/status.ts'
import { StateBadge, type Tone } from '../../kit/state-badge.tsx'
import { Moment } from '../../kit/time.tsx'
import classes from './status.module.css'

const TONES: Record<IncidentSeverity, Tone> = { minor: 'wait', major: 'wait', critical: 'bad', maintenance: 'busy' }

export function IncidentCard({ incident }: { incident: PublicIncident }) {
  const t = useT()
  const names = useNames()
  const { id, title, severity, state, locations, started_at, ends_at, resolved_at, updates } = incident
  return (
    <article className={`card stack ${classes.box}`} id={`incident-${id}`} aria-label={title}>
      <h3 className="breaks">{title}</h3>
      <p className="row baseline" style={{ gap: '0.25rem 1rem' }}>
        <StateBadge tone={isEnded(state) ? 'good' : TONES[severity]}>{t(`state.${state}`)}</StateBadge>
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
