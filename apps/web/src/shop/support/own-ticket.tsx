import { Button, Skeleton, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { pageAt } from '@netlet/contract/pages'
import { IconArrowLeft } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { ApiError, call } from '../../api/client.ts'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read, refresh } from '../../api/query.ts'
import { support } from '../../api/routes.ts'
import { useSession } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/support.ts'
import { useFormDraft } from '../../kit/draft.ts'
import { useFormFailure } from '../../kit/form-failure.tsx'
import { rules } from '../../kit/form.ts'
import { MessageThread } from '../../kit/message-thread.tsx'
import { notify } from '../../kit/notify.ts'
import { loginPath } from '../../kit/return-path.ts'
import { TicketMessageForm } from '../../kit/schemas.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { OwnState } from './own-tickets.tsx'

/** Milliseconds between polls without the change feed. */
const POLL = 10_000

/** A ticket of the account with its messages, and a form until it is closed. */
export function OwnTicket({ id }: { id: number }) {
  const t = useT()
  const { user, pending } = useSession()
  const { data, error, refetch } = useQuery({
    ...read(support.ownTicket, { params: { id } }),
    enabled: user !== null,
    refetchInterval: usePollInterval(POLL)
  })
  if (!user && !pending)
    return (
      <EmptyState title={t('logInTitle')} body={t('logInHint')}>
        <Button component={Link} to={loginPath(`${pageAt('support')}?ticket=${id}`)}>
          {t('logIn')}
        </Button>
      </EmptyState>
    )
  if (error instanceof ApiError && error.status === 404) return <EmptyState title={t('gone')} body={t('goneHint')} />
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={320} />
  return (
    <>
      <div>
        <OwnState state={data.state} />
      </div>
      <MessageThread
        label={t('thread')}
        messages={data.messages.map(message => ({
          ...message,
          who: t(message.author === 'customer' ? 'you' : 'us'),
          look: message.author === 'customer' ? 'own' : 'other'
        }))}
      />
      {data.state === 'closed' ? (
        <p className="row">
          <span className="dim">{t('closed')}</span>
          <Link to={`${pageAt('support')}#contact`}>{t('another')}</Link>
        </p>
      ) : (
        <MessageForm key={id} id={id} />
      )}
    </>
  )
}

export function BackToSupport() {
  const t = useT()
  return (
    <p>
      <Link to={pageAt('support')} className="row unwrapped inline size-body" style={{ gap: '0.35rem' }}>
        <IconArrowLeft size={16} aria-hidden />
        {t('back')}
      </Link>
    </p>
  )
}

const check = rules(TicketMessageForm)

function MessageForm({ id }: { id: number }) {
  const t = useT()
  const form = useForm({ initialValues: { text: '' }, validate: check })
  const draft = useFormDraft(`ticket-${id}`, form, {})
  const failure = useFormFailure(form)
  const send = useMutation({
    mutationFn: (body: { text: string }) => call(support.writeInTicket, { params: { id }, body }),
    onSuccess: async () => {
      notify('good', t('sent'))
      draft.forget()
      form.reset()
      await refresh(support.ownTicket, support.ownTickets)
    },
    onError: error => {
      failure.refused(error)
      // It may have been closed.
      void refresh(support.ownTicket)
    }
  })
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
      <Textarea label={t('message')} rows={4} resize="vertical" maxLength={5000} {...form.getInputProps('text')} />
      {failure.alert}
      <div>
        <Button type="submit" loading={send.isPending}>
          {t('send')}
        </Button>
      </div>
    </form>
  )
}
