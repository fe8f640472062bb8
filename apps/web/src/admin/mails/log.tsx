import { IconEye, IconSend } from '@tabler/icons-react'
import type { SentMail } from '@netlet/contract'
import { MAIL_STATES } from '@netlet/contract/states'
import { mail } from '../../api/routes.ts'
import { column, defineResource, integer, moment, oneOf } from '../kit/index.ts'
import { Failure, Kind, Language, State, Template } from './cells.tsx'
import { MailDrawer } from './mail-drawer.tsx'

/** Every mail that the shop sent, and its result. The drawer shows its text. */
export const MailLog = defineResource({
  key: 'mails',
  list: mail.mails,
  address: ['tab'],
  nameOf: row => row.to,
  columns: [
    integer('id', { optional: true }),
    column('to', (row: SentMail) => row.to, { lead: true }),
    column('template', (row: SentMail) => <Template name={row.template} />),
    column('kind', (row: SentMail) => <Kind row={row} />),
    column('language', (row: SentMail) => <Language row={row} />, { optional: true }),
    column('state', (row: SentMail) => <State row={row} />),
    column('error', (row: SentMail) => <Failure row={row} />, { wide: true }),
    moment('created_at'),
    moment('sent_at', { optional: true })
  ],
  sort: ['id'],
  filters: [oneOf('state', MAIL_STATES, 'mails.is')],
  drawer: MailDrawer,
  rowActions: [
    { name: 'view', icon: IconEye, run: (row, tools) => tools.show(row.id), needs: mail.mail },
    {
      name: 'sendAgain',
      icon: IconSend,
      route: mail.sendAgain,
      whyNot: ({ send_again }) => (send_again === 'possible' ? undefined : `whyNot.mail.${send_again}`),
      confirm: (t, row) => ({ title: t('mails.sendAgain'), body: t('mails.sendAgainBody', { to: row.to }) }),
      success: t => t('mails.sentAgain')
    }
  ],
  moving: row => row.state === 'waiting',
  problem: row => row.state === 'failed',
  csv: true
})
