import type { SentMail } from '@netlet/contract'
import en from '../../i18n/admin.en.json'
import { useT, type Key } from '../../i18n/admin.ts'
import { LANGUAGES } from '../../i18n/language.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { none } from '../../kit/none.tsx'

/** Why it was not sent, with the mail service's own words. */
export function Failure({ row: { error, error_code: code, state } }: { row: SentMail }) {
  const t = useT()
  if (!code) return error ?? none
  return (
    <>
      {t(`mails.why.${code}`)}
      {error && state !== 'skipped' && <div className="dim">{error}</div>}
    </>
  )
}

/** The mail's name in words, and its technical name. */
export function Template({ name }: { name: string }) {
  const t = useT()
  const key = `mails.name.${name}`
  return (
    <>
      {key in en ? t(key as Key) : name}
      {key in en && <div className="dim mono">{name}</div>}
    </>
  )
}

export function Kind({ row }: { row: SentMail }) {
  const t = useT()
  return <>{t(`mails.kindOf.${row.kind}`)}</>
}

const TONES = { waiting: 'busy', sent: 'good', bounced: 'bad', failed: 'bad', skipped: 'off' } as const

export function State({ row }: { row: SentMail }) {
  const t = useT()
  return <StateBadge tone={TONES[row.state]}>{t(`mails.is.${row.state}`)}</StateBadge>
}

/** Each language in its own name. */
export const Language = ({ row }: { row: SentMail }) => <>{LANGUAGES[row.language]}</>
