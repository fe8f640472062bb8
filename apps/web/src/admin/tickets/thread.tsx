import { Button, Menu, NativeSelect, Skeleton, Tabs, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { Ticket, TicketMessage, TicketThread } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { LANGUAGES } from '@netlet/contract/languages'
import { IconChevronDown } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { mail as mails, support } from '../../api/routes.ts'
import { useMay, useSession } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/admin.ts'
import { useFormDraft } from '../../kit/draft.ts'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { rules } from '../../kit/form.ts'
import { MessageThread } from '../../kit/message-thread.tsx'
import { notify } from '../../kit/notify.ts'
import { TicketAnswerForm, TicketNoteForm } from '../../kit/schemas.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { AuditLink, type Fact, FactList, May, WorkButton, useCommand } from '../kit/index.ts'
import { StateCell } from './cells.tsx'

/** What to read again after a change of a ticket. */
const CHANGED = [support.tickets, support.ticket, mails.mails]

/** A ticket beside the list: who sent it, all messages, and what the operator does with it. */
export function TicketDrawer({ id }: { id: number }) {
  const t = useT()
  const { data: ticket, error, refetch } = useQuery(read(support.ticket, { params: { id } }))
  const may = useMay().mayCall(support.answerTicket)
  if (error && !ticket) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!ticket) return <Skeleton height={320} />
  return (
    <div className="stack">
      <Facts ticket={ticket} />
      {may && (
        <div className="row">
          <Assign ticket={ticket} />
          <CloseOrReopen ticket={ticket} />
        </div>
      )}
      <MessageThread label={t('tickets.thread')} messages={ticket.messages.map(message => shown(t, ticket, message))} />
      {may && <Compose ticket={ticket} />}
      <AuditLink of="ticket" id={id} />
    </div>
  )
}

function shown(t: ReturnType<typeof useT>, ticket: Ticket, message: TicketMessage) {
  const { author, by } = message
  if (author === 'customer')
    return { ...message, who: t('tickets.byCustomer', { name: ticket.username }), look: 'other' as const }
  const name = by ?? t('tickets.formerOperator')
  if (author === 'note') return { ...message, who: `${t('tickets.isNote')} · ${name}`, look: 'note' as const }
  return {
    ...message,
    who: name,
    look: 'own' as const,
    below: message.mail && <MailState mail={message.mail} to={ticket.email} />
  }
}

function Facts({ ticket }: { ticket: Ticket }) {
  const t = useT()
  const { username, email, phone, user, account, assignee, waiting_since } = ticket
  const linked = (one: NonNullable<Ticket['user']>, title?: string) => (
    <Link to={pageAt('user', { id: one.id })} title={title}>
      {one.username}
    </Link>
  )
  const isTheirName = account?.username === username
  const facts: Fact[] = [
    [t('tickets.username'), account && isTheirName ? linked(account) : username],
    [t('tickets.email'), email],
    [t('tickets.phone'), phone],
    [t('tickets.account'), account && !isTheirName && linked(account)],
    [t('tickets.sameEmail'), user && user.id !== account?.id && linked(user, t('tickets.userHint'))],
    [t('tickets.state'), <StateCell ticket={ticket} />],
    [t('tickets.waiting_since'), waiting_since && <Ago at={waiting_since} />],
    [t('tickets.assignee'), assignee?.username ?? t('tickets.unassigned')]
  ]
  return <FactList label={t('tickets.one')} facts={facts} />
}

function MailState({ mail, to }: { mail: NonNullable<TicketMessage['mail']>; to: string }) {
  const t = useT()
  const { state, error, error_code: code } = mail
  return (
    <div className={`size-label ${state === 'failed' || state === 'bounced' ? 'bad' : 'dim'}`}>
      {t(`tickets.mail.${state}`)}
      {code && <div>{t(`mails.why.${code}`)}</div>}
      {error && <div className="dim breaks">{error}</div>}
      {state === 'failed' && mail.id !== null && <SendAgain mail={mail.id} to={to} />}
    </div>
  )
}

function SendAgain({ mail, to }: { mail: number; to: string }) {
  const t = useT()
  const again = useCommand(mails.sendAgain, {
    confirm: { title: t('mails.sendAgain'), body: t('mails.sendAgainBody', { to }) },
    success: t('mails.sentAgain'),
    invalidate: CHANGED
  })
  return (
    <May make={mails.sendAgain}>
      <div style={{ marginTop: '0.4rem' }}>
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

function Assign({ ticket: { id, assignee } }: { ticket: Ticket }) {
  const t = useT()
  const { user: me } = useSession()
  const { data: operators = [] } = useQuery(read(support.assignees))
  const assign = useCommand(support.assignTicket, {
    success: reply => t((reply as Ticket).assignee ? 'tickets.assigned' : 'tickets.notAssigned'),
    invalidate: CHANGED
  })
  const to = (operator: number | null) => void assign.run({ params: { id }, body: { assignee: operator } })
  const others = operators.filter(one => one.id !== me?.id && one.id !== assignee?.id)
  return (
    <>
      {me && assignee?.id !== me.id && (
        <WorkButton variant="default" size="sm" working={assign.running} onClick={() => to(me.id)}>
          {t('tickets.assignMe')}
        </WorkButton>
      )}
      {(others.length > 0 || assignee) && (
        <Menu position="bottom-start" shadow="md" withinPortal zIndex={260}>
          <Menu.Target>
            <Button variant="default" size="sm" rightSection={<IconChevronDown size={15} aria-hidden />}>
              {t('tickets.assign')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
            {others.map(one => (
              <Menu.Item key={one.id} onClick={() => to(one.id)}>
                {one.username}
              </Menu.Item>
            ))}
            {assignee && <Menu.Item onClick={() => to(null)}>{t('tickets.assignNone')}</Menu.Item>}
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  )
}

function CloseOrReopen({ ticket: { id, state } }: { ticket: Ticket }) {
  const t = useT()
  const closed = state === 'closed'
  const change = useCommand(closed ? support.reopenTicket : support.closeTicket, {
    success: t(closed ? 'tickets.reopened' : 'tickets.closed'),
    invalidate: CHANGED
  })
  return (
    <WorkButton
      variant="default"
      size="sm"
      working={change.running}
      onClick={() => void change.run({ params: { id }, body: {} })}
    >
      {t(closed ? 'tickets.reopen' : 'tickets.close')}
    </WorkButton>
  )
}

function Compose({ ticket }: { ticket: TicketThread }) {
  const t = useT()
  return (
    <Tabs defaultValue="reply" keepMounted={false}>
      <Tabs.List>
        <Tabs.Tab value="reply">{t('tickets.answer')}</Tabs.Tab>
        <Tabs.Tab value="note">{t('tickets.note')}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="reply" pt="sm">
        {ticket.state === 'closed' ? <p className="dim">{t('tickets.isClosed')}</p> : <ReplyForm ticket={ticket} />}
      </Tabs.Panel>
      <Tabs.Panel value="note" pt="sm">
        <NoteForm id={ticket.id} />
      </Tabs.Panel>
    </Tabs>
  )
}

const checkReply = rules(TicketAnswerForm)

function ReplyForm({ ticket: { id, language, account, messages } }: { ticket: TicketThread }) {
  const t = useT()
  const form = useForm({ initialValues: { answer: '', language }, validate: checkReply })
  const draft = useFormDraft(`reply-${id}`, form, {})
  const failure = useFormFailure(form)
  const after = messages.findLast(({ author }) => author !== 'note')?.id ?? 0
  const send = useMutation({
    mutationFn: (body: typeof form.values) => call(support.answerTicket, { params: { id }, body: { ...body, after } }),
    onSuccess: () => {
      notify('good', t('tickets.replied'))
      draft.forget()
      form.setFieldValue('answer', '')
    },
    onError: failure.refused,
    // A refusal often means that there is a newer message.
    onSettled: () => refresh(...CHANGED)
  })
  const insert = (text: string) => {
    const { answer } = form.getValues()
    form.setFieldValue('answer', answer.trim() ? `${answer.trimEnd()}\n\n${text}` : text)
    form.getInputNode('answer')?.focus()
  }
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        values => send.mutate(values),
        errors => failure.invalid(errors)
      )}
    >
      <Textarea
        label={t('tickets.answer')}
        description={t(account ? 'tickets.replyHelpOwn' : 'tickets.replyHelp')}
        rows={5}
        resize="vertical"
        maxLength={10_000}
        {...form.getInputProps('answer')}
      />
      <div className="row bottom">
        <NativeSelect
          label={t('tickets.language')}
          size="sm"
          data={LANGUAGES.map(value => ({ value, label: t(`tickets.in.${value}`) }))}
          {...form.getInputProps('language')}
        />
        <SavedReplies onChoose={insert} />
      </div>
      {failure.alert}
      <div>
        <Button type="submit" size="sm" loading={send.isPending}>
          {t('tickets.reply')}
        </Button>
      </div>
    </form>
  )
}

/** More than an operator would search by eye. */
const SAVED = 100

function SavedReplies({ onChoose }: { onChoose: (text: string) => void }) {
  const t = useT()
  const { data } = useQuery(read(support.savedReplies, { query: { limit: SAVED } }))
  return (
    <Menu position="top-start" shadow="md" withinPortal zIndex={260} returnFocus={false}>
      <Menu.Target>
        <Button variant="default" size="sm" rightSection={<IconChevronDown size={15} aria-hidden />}>
          {t('tickets.saved')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={320} maw="20rem" style={{ overflowY: 'auto' }}>
        {data?.data.length === 0 && <Menu.Label>{t('tickets.noSaved')}</Menu.Label>}
        {data?.data.map(({ id, title, text }) => (
          <Menu.Item key={id} onClick={() => onChoose(text)}>
            <span className="breaks">{title}</span>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component={Link} to={`${pageAt('tickets')}?tab=replies`}>
          {t('tickets.manageSaved')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const checkNote = rules(TicketNoteForm)

function NoteForm({ id }: { id: number }) {
  const t = useT()
  const form = useForm({ initialValues: { text: '' }, validate: checkNote })
  const draft = useFormDraft(`note-${id}`, form, {})
  const failure = useFormFailure(form)
  const add = useMutation({
    mutationFn: (body: { text: string }) => call(support.addNote, { params: { id }, body }),
    onSuccess: async () => {
      notify('good', t('tickets.noted'))
      draft.forget()
      form.reset()
      await refresh(...CHANGED)
    },
    onError: failure.refused
  })
  return (
    <form
      className="stack"
      noValidate
      onChange={failure.onChange}
      onSubmit={form.onSubmit(
        values => add.mutate(values),
        errors => failure.invalid(errors)
      )}
    >
      <Textarea
        label={t('tickets.note')}
        description={t('tickets.noteHelp')}
        rows={3}
        resize="vertical"
        maxLength={10_000}
        {...form.getInputProps('text')}
      />
      {failure.alert}
      <div>
        <Button type="submit" size="sm" loading={add.isPending}>
          {t('tickets.addNote')}
        </Button>
      </div>
    </form>
  )
}
