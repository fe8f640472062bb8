import { IconEye, IconLock, IconLockOpen, IconSend } from '@tabler/icons-react'
import type { Ticket } from '@netlet/contract'
import { TICKET_STATES } from '@netlet/contract/states'
import { call } from '../../api/client.ts'
import { mail, support } from '../../api/routes.ts'
import { TicketAnswerForm } from '../../kit/schemas.ts'
import { areaField, choiceField, column, defineResource, integer, moment, oneOf, stateBack } from '../kit/index.ts'
import { MessageCell, StateCell } from './cells.tsx'
import { TicketDrawer } from './drawer.tsx'
import classes from './tickets.module.css'

/** Visitors' questions to the operators: answer by mail, close, delete. */
export default defineResource({
  key: 'tickets',
  list: support.tickets,
  also: [support.ticket, mail.mails],
  find: id => call(support.ticket, { params: { id } }),
  nameOf: row => row.username,
  columns: [
    integer('id'),
    column('email', (row: Ticket) => <span className={classes.email}>{row.email}</span>, { lead: true }),
    column('username', (row: Ticket) => row.username),
    column('phone', (row: Ticket) => <span className={classes.phone}>{row.phone}</span>),
    column('message', (row: Ticket) => <MessageCell ticket={row} />, { wide: true }),
    column('state', (row: Ticket) => <StateCell ticket={row} />),
    moment('created_at')
  ],
  sort: ['id'],
  filters: [oneOf('state', TICKET_STATES, 'tickets.is')],
  rowActions: [
    { name: 'view', icon: IconEye, run: (row, tools) => tools.show(row.id) },
    {
      name: 'reply',
      icon: IconSend,
      whyNot: row => (row.answer === null ? undefined : 'whyNot.answered'),
      form: {
        schema: TicketAnswerForm,
        fields: [
          { ...areaField('answer', { rows: 10 }), help: t => t('tickets.answerHelp') },
          choiceField('language', ['en', 'zh-CN'], 'tickets.in')
        ],
        route: support.answerTicket
      },
      success: t => t('tickets.replied')
    },
    {
      name: 'close',
      icon: IconLock,
      whyNot: row => (row.state === 'closed' ? 'whyNot.closed' : undefined),
      route: support.closeTicket,
      undo: (row, reply) => stateBack(row, reply, { route: support.reopenTicket, expected: 'closed' }),
      success: t => t('tickets.closed')
    },
    {
      name: 'reopen',
      icon: IconLockOpen,
      whyNot: row => (row.state === 'closed' ? undefined : 'whyNot.notClosed'),
      route: support.reopenTicket,
      undo: (row, reply) =>
        stateBack(row, reply, { route: support.closeTicket, expected: row.answer === null ? 'open' : 'answered' }),
      success: t => t('tickets.reopened')
    }
  ],
  remove: {
    route: support.deleteTicket,
    confirm: (t, row) => ({
      title: t('list.deleteTitle'),
      body: t('tickets.deleteBody', { name: row.username }),
      danger: true
    })
  },
  problem: row => row.mail?.state === 'failed',
  moving: row => row.mail?.state === 'waiting',
  drawer: TicketDrawer,
  csv: true
})
