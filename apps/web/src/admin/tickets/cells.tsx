import type { Ticket } from '@netlet/contract'
import { useT } from '../../i18n/admin.ts'
import { StateBadge, StateWithDetails } from '../../kit/state-badge.tsx'

const TONES = { open: 'wait', answered: 'good', closed: 'off' } as const

export function StateCell({ ticket: { state, mail } }: { ticket: Ticket }) {
  const t = useT()
  return (
    <StateWithDetails>
      <StateBadge tone={TONES[state]}>{t(`tickets.is.${state}`)}</StateBadge>
      {mail && mail.state !== 'sent' && (
        <span className={mail.state === 'failed' || mail.state === 'bounced' ? 'bad' : 'dim'}>
          {t(`tickets.mail.${mail.state}`)}
        </span>
      )}
    </StateWithDetails>
  )
}

export const MessageCell = ({ ticket: { message } }: { ticket: Ticket }) => (
  <span className="clamped breaks">{message}</span>
)
