import { IconSend } from '@tabler/icons-react'
import type { MailState, SentMail } from '@netlet/contract'
import { mail } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { code, column, date, defineResource, integer, oneOf } from '../kit/index.ts'

// Named here and not taken from the contract, whose list would bring the validation library's schemas with it.
const STATES: Record<MailState, true> = { waiting: true, sent: true, failed: true, skipped: true }

/** Every mail of the shop and what came of it. What it said is not kept. */
export const MailLog = defineResource({
  key: 'mails',
  list: mail.mails,
  nameOf: row => row.to,
  columns: [
    integer('id', { optional: true }),
    column('to', (row: SentMail) => row.to, { lead: true }),
    code('template'),
    column('kind', (row: SentMail) => <Kind row={row} />),
    column('language', (row: SentMail) => row.language, { optional: true }),
    column('state', (row: SentMail) => <State row={row} />),
    column('error', (row: SentMail) => <Failure row={row} />, { wide: true }),
    date('created_at'),
    date('sent_at', { optional: true })
  ],
  sort: ['id'],
  filters: [oneOf('state', Object.keys(STATES), 'mails.is')],
  rowActions: [
    {
      name: 'sendAgain',
      icon: IconSend,
      route: mail.sendAgain,
      when: row => row.state === 'failed',
      confirm: (t, row) => ({ title: t('mails.sendAgain'), body: t('mails.sendAgainBody', { to: row.to }) }),
      success: t => t('mails.sentAgain')
    }
  ],
  moving: row => row.state === 'waiting',
  problem: row => row.state === 'failed',
  csv: true
})

/** Why it was not sent, and what the mail service said of it in its own words. */
function Failure({ row: { error, error_code: code, state } }: { row: SentMail }) {
  const t = useT()
  if (!code) return error ?? '–'
  return (
    <>
      {t(`mails.why.${code}`)}
      {error && state !== 'skipped' && <div className="dim">{error}</div>}
    </>
  )
}

function Kind({ row }: { row: SentMail }) {
  const t = useT()
  return <>{t(`mails.kindOf.${row.kind}`)}</>
}

function State({ row }: { row: SentMail }) {
  const t = useT()
  return <>{t(`mails.is.${row.state}`)}</>
}
