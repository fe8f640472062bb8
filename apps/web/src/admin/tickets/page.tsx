import { Button, Skeleton } from '@mantine/core'
import type { Ticket } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { TICKET_STATES } from '@netlet/contract/states'
import { IconEye, IconLock, IconLockOpen, IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { mail, mail as mails, support } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { TicketAnswerForm } from '../../kit/schemas.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Moment } from '../../kit/time.tsx'
import {
  AuditLink,
  type Fact,
  FactList,
  May,
  type Tools,
  WorkButton,
  areaField,
  choiceField,
  column,
  defineResource,
  integer,
  moment,
  oneOf,
  stateBack,
  useCommand
} from '../kit/index.ts'
import { MessageCell, StateCell } from './cells.tsx'
import classes from './tickets.module.css'

type Props = { id: number; row: Ticket | undefined; tools: Tools }

/** A ticket beside the list: the question, the answer and the state of its mail. */
function TicketDrawer({ id, row, tools }: Props) {
  const t = useT()
  const { data, error, refetch } = useQuery({
    ...read(support.ticket, { params: { id } }),
    // The list already has it and keeps it current.
    enabled: !row
  })
  const ticket = row ?? data
  if (error && !ticket) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!ticket) return <Skeleton height={320} />
  return (
    <div className="stack">
      <Facts ticket={ticket} />
      <section aria-label={t('tickets.message')}>
        <h3 className="size-body" style={{ marginBottom: '0.4rem' }}>
          {t('tickets.message')}
        </h3>
        <p className={`size-body lines ${classes.words}`}>{ticket.message}</p>
      </section>
      {ticket.answer === null ? (
        <May make={support.answerTicket}>
          <div>
            <Button size="sm" onClick={() => tools.form('reply', id)}>
              {t('tickets.reply')}
            </Button>
          </div>
        </May>
      ) : (
        <section aria-label={t('tickets.answer')}>
          <h3 className="size-body" style={{ marginBottom: '0.4rem' }}>
            {t('tickets.answer')}
          </h3>
          <p className={`size-body lines ${classes.words}`}>{ticket.answer}</p>
        </section>
      )}
      {ticket.mail?.state === 'failed' && ticket.mail.id !== null && (
        <SendAgain mail={ticket.mail.id} to={ticket.email} />
      )}
      <AuditLink of="ticket" id={id} />
    </div>
  )
}

function Facts({ ticket }: { ticket: Ticket }) {
  const t = useT()
  const { username, email, phone, user, answered_at, answered_by, language, mail } = ticket
  const facts: Fact[] = [
    [t('tickets.username'), username],
    [t('tickets.email'), email],
    [t('tickets.phone'), phone],
    [t('tickets.created_at'), <Moment at={ticket.created_at} />],
    [t('tickets.state'), <StateCell ticket={ticket} />],
    [
      t('tickets.user'),
      user && (
        <Link to={pageAt('user', { id: user.id })} title={t('tickets.userHint')}>
          {user.username}
        </Link>
      )
    ],
    [t('tickets.answeredAt'), answered_at && <Moment at={answered_at} />],
    [
      t('tickets.reply'),
      answered_by && t('tickets.answeredBy', { by: answered_by, language: t(`tickets.in.${language}`) })
    ],
    [t('tickets.mailState'), mail && <MailState mail={mail} />]
  ]
  return <FactList label={t('tickets.one')} facts={facts} />
}

function MailState({ mail: { state, error, error_code: code } }: { mail: NonNullable<Ticket['mail']> }) {
  const t = useT()
  return (
    <span className={state === 'failed' ? 'bad' : undefined}>
      {t(`tickets.mail.${state}`)}
      {code && <div>{t(`mails.why.${code}`)}</div>}
      {error && <div className="dim">{error}</div>}
    </span>
  )
}

function SendAgain({ mail, to }: { mail: number; to: string }) {
  const t = useT()
  const again = useCommand(mails.sendAgain, {
    confirm: { title: t('mails.sendAgain'), body: t('mails.sendAgainBody', { to }) },
    success: t('mails.sentAgain'),
    invalidate: [support.tickets, support.ticket, mails.mails]
  })
  return (
    <May make={mails.sendAgain}>
      <div>
        <WorkButton
          variant="default"
          size="sm"
          working={again.running}
          onClick={() => void again.run({ params: { id: mail } })}
        >
          {t('mails.sendAgain')}
        </WorkButton>
      </div>
    </May>
  )
}

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
