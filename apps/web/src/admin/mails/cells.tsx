import type { SentMail } from '@netlet/contract'
import { useT } from '../../i18n/admin.ts'
import { LANGUAGES } from '../../i18n/language.ts'

/** Why it was not sent, and what the mail service said of it in its own words. */
export function Failure({ row: { error, error_code: code, state } }: { row: SentMail }) {
  const t = useT()
  if (!code) return error ?? '–'
  return (
    <>
      {t(`mails.why.${code}`)}
      {error && state !== 'skipped' && <div className="dim">{error}</div>}
    </>
  )
}

export function Kind({ row }: { row: SentMail }) {
  const t = useT()
  return <>{t(`mails.kindOf.${row.kind}`)}</>
}

export function State({ row }: { row: SentMail }) {
  const t = useT()
  return <>{t(`mails.is.${row.state}`)}</>
}

/** In its own words, so that whoever reads it knows it. */
export const Language = ({ row }: { row: SentMail }) => <>{LANGUAGES[row.language]}</>
