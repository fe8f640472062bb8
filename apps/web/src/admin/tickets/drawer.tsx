import type { Ticket } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { mail as mails, support } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Moment } from '../../kit/time.tsx'
import { AuditLink, FactList, May, useCommand, type Fact, type Tools, WorkButton } from '../kit/index.ts'
import { StateCell } from './cells.tsx'
import classes from './tickets.module.css'

type Props = { id: number; row: Ticket | undefined; tools: Tools }

/** A ticket beside the list: the question, the answer and the state of its mail. */
export function TicketDrawer({ id, row, tools }: Props) {
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
