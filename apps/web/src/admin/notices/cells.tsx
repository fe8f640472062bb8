import type { Notice, NoticeChannel, NoticeSend } from '@netlet/contract'
import { Link } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { Ago, Moment } from '../../kit/time.tsx'

/** The notice's text in the current language, linked to the rows behind it. */
export function Title({ row }: { row: Notice }) {
  const language = useLanguage()
  return <Link to={row.path}>{row.title[language]}</Link>
}

const TONES = { critical: 'bad', warning: 'wait', info: 'busy' } as const

export function Severity({ row: { severity } }: { row: Pick<Notice, 'severity'> }) {
  const t = useT()
  return <StateBadge tone={TONES[severity]}>{t(`notices.severityOf.${severity}`)}</StateBadge>
}

export function Cause({ row: { cause } }: { row: Pick<Notice, 'cause'> }) {
  const t = useT()
  return <>{t(`notices.causeOf.${cause}`)}</>
}

/** Open or over, and whether it was acknowledged or muted. */
export function State({ row }: { row: Notice }) {
  const t = useT()
  const muted = row.muted_until !== null && row.state === 'open' && Date.parse(row.muted_until) > Date.now()
  return (
    <>
      <StateBadge tone={row.state === 'open' ? 'wait' : 'off'}>{t(`notices.is.${row.state}`)}</StateBadge>
      {row.closed_at && (
        <div className="dim">
          <Ago at={row.closed_at} />
        </div>
      )}
      {row.acknowledged_by && <div className="dim">{t('notices.seenBy', { by: row.acknowledged_by })}</div>}
      {muted && row.muted_until && (
        <div className="dim">
          {t('notices.mutedUntil')} <Moment at={row.muted_until} />
        </div>
      )}
    </>
  )
}

const OUTCOMES = ['sent', 'waiting', 'failed', 'skipped'] as const

/** How often each delivery outcome occurred. */
export function Told({ row: { sends } }: { row: Notice }) {
  const t = useT()
  const some = OUTCOMES.filter(state => sends[state] > 0)
  if (some.length === 0) return <>{t('notices.untold')}</>
  return (
    <>
      {some.map(state => (
        <div key={state} className={state === 'failed' ? 'bad' : undefined}>
          {t(`notices.sendIs.${state}`)}: <span className="num">{sends[state]}</span>
        </div>
      ))}
    </>
  )
}

/** Why a message was not delivered, with the receiver's answer. */
export function Failure({
  of: { failure, status, detail }
}: {
  of: Pick<NoticeSend, 'failure' | 'status' | 'detail'>
}) {
  const t = useT()
  if (!failure) return null
  return (
    <div className="bad">
      {t(`notices.why.${failure}`, { status: status ?? '–' })}
      {detail && <div className="dim">{detail}</div>}
    </div>
  )
}

/** Where a channel sends: a host, or the operators. */
export function Target({ row }: { row: NoticeChannel }) {
  const t = useT()
  if (row.kind !== 'mail') return <span className="mono">{row.host}</span>
  return (
    <>{row.user_ids.length === 0 ? t('notice-channels.everyone') : row.user_ids.map(({ name }) => name).join(', ')}</>
  )
}

export function Kind({ row: { kind } }: { row: Pick<NoticeChannel, 'kind'> }) {
  const t = useT()
  return <>{t(`notice-channels.kindOf.${kind}`)}</>
}

/** Severities sent at once. The others go into the digest, if the channel gets one. */
export function Tells({ row }: { row: NoticeChannel }) {
  const t = useT()
  const told = (['critical', 'warning', 'info'] as const).filter(severity => row[`tell_${severity}`])
  return (
    <>
      {told.map(severity => t(`notices.severityOf.${severity}`)).join(', ') || '–'}
      {row.digest && <div className="dim">{t('notice-channels.withDigest')}</div>}
    </>
  )
}

export function ChannelState({ row }: { row: NoticeChannel }) {
  const t = useT()
  if (!row.enabled) return <>{t('notice-channels.off')}</>
  if (row.failing_since && row.failure)
    return (
      <div className="bad">
        {t('notice-channels.failingSince')} <Ago at={row.failing_since} />
        <div>{t(`notices.why.${row.failure}`, { status: '' })}</div>
      </div>
    )
  return row.last_sent_at ? (
    <>
      {t('notice-channels.lastSent')} <Ago at={row.last_sent_at} />
    </>
  ) : (
    <>{t('notice-channels.unused')}</>
  )
}
