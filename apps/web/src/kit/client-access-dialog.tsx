import './styles/forms.ts'
import type { ClientAccess, ClientAccessKind } from '@netlet/contract'
import { Button, NativeSelect, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError, call } from '../api/client.ts'
import { read, refresh } from '../api/query.ts'
import { orders } from '../api/routes.ts'
import { useSession } from '../api/session.ts'
import { useMutation } from '../api/use-mutation.ts'
import { useT } from '../i18n/account.ts'
import { t as word } from '../i18n/index.ts'
import { failureText, fieldTexts, saidAgain } from '../i18n/failures.ts'
import { Dialog } from './dialog.tsx'
import { draftOf } from './draft.ts'
import { FormAlert } from './form-failure.tsx'
import { useLeaveGuard } from './leave-guard.ts'
import { merge } from './merge.ts'
import { notify } from './notify.ts'
import { useIsShown } from './use-is-shown.ts'

const KINDS: readonly ClientAccessKind[] = ['password', 'address', 'password_and_address']
/** Milliseconds between two looks while the servers have yet to hear of a change. */
const WATCH = 2500

/**
 * What was changed and not saved, of one version: it is there again after a reload, or a session that ended meanwhile. For whoever
 * typed it alone: an order's dialog is opened by its customer and by operators.
 */
const draftFor = (orderId: number, userId: number) =>
  draftOf(`clients-${orderId}-by-${userId}`, { access: '', text: '', version: '' })

type DialogProps = {
  orderId: number
  onClose: () => void
  /** Somebody else's order: where one is at present is no client of it. */
  ofOperator?: boolean
}

/** How clients of an order's proxies are let in, as a form. */
export function ClientAccessDialog({ orderId, onClose, ofOperator = false }: DialogProps) {
  const t = useT()
  const { user } = useSession()
  // Whoever signs in while it is open has typed none of it.
  const [draft] = useState(() => draftFor(orderId, user?.id ?? 0))
  // What is typed is not lost by Escape, a click beside it or the browser's back.
  const guard = useLeaveGuard(false, {
    keepsDraft: true,
    onRelease: () => {
      draft.forget()
      onClose()
    }
  })
  const isShown = useIsShown()
  const leave = async () => {
    if (await guard.mayLeave()) onClose()
  }
  const { data, error, refetch } = useQuery({
    ...read(orders.clientAccess, { params: { id: orderId } }),
    refetchInterval: query => (query.state.data?.is_pending ? WATCH : false)
  })
  const [sending, setSending] = useState(false)
  // What is typed stays while somebody else saves: its own save is refused then.
  const [shown, setShown] = useState(data)
  if (data !== shown && !guard.isUnsaved() && !sending) setShown(data)
  return (
    <Dialog onClose={() => void leave()} title={t('clients.title')}>
      {shown ? (
        <ClientAccessForm
          key={shown.version}
          orderId={orderId}
          draft={draft}
          current={shown}
          onClose={() => void leave()}
          // One that was opened after it stays.
          onSaved={() => isShown() && onClose()}
          onChanged={guard.mark}
          onSending={setSending}
          ofOperator={ofOperator}
        />
      ) : (
        <div className="stack">
          <p role={error ? 'alert' : 'status'}>{error ? failureText(error) : word('loading')}</p>
          {error && <Button onClick={() => void refetch()}>{word('retry')}</Button>}
        </div>
      )}
    </Dialog>
  )
}

const linesOf = (text: string) =>
  text
    .split(/[\s,;]+/)
    .map(line => line.trim())
    .filter(line => line !== '')

type Props = Required<DialogProps> & {
  draft: ReturnType<typeof draftFor>
  current: ClientAccess
  onSaved: () => void
  /** Whether it differs from what is saved. */
  onChanged: (changed: boolean) => void
  /** Its call is out. */
  onSending: (sending: boolean) => void
}

function ClientAccessForm({
  orderId,
  draft,
  current: opened,
  onClose,
  onSaved,
  onChanged,
  onSending,
  ofOperator
}: Props) {
  const t = useT()
  const [current, setCurrent] = useState(opened)
  const [kept] = useState(() => {
    const { access, text, version } = draft.read()
    const kind = KINDS.find(one => one === access)
    return kind && version === current.version ? { access: kind, text } : null
  })
  const [access, setAccess] = useState(kept?.access ?? current.access)
  const [text, setText] = useState(kept?.text ?? current.client_ips.join('\n'))
  const [wrong, setWrong] = useState<{ list?: string; form?: string }>({})
  const lines = linesOf(text)
  const changed = access !== current.access || (access !== 'password' && lines.join() !== current.client_ips.join())
  useEffect(() => onChanged(changed), [changed, onChanged])
  useEffect(() => {
    if (changed) draft.keep({ access, text, version: current.version })
    else draft.forget()
  }, [changed, access, text, draft, current.version])
  const isShown = useIsShown()
  /** Goes on from what somebody else saved, with what is entered here: the next save goes over it. Says what both changed. */
  const goOnFrom = (now: ClientAccess) => {
    const valuesOf = (one: ClientAccess) => ({ access: one.access, list: one.client_ips })
    const merged = merge(valuesOf(current), { access, list: lines }, valuesOf(now))
    setCurrent(now)
    setAccess(merged.values.access)
    setText(merged.values.list.join('\n'))
    return merged.clashes.map(({ path: [name], theirs }) =>
      name === 'access'
        ? t('form.clash', { field: t('clients.access'), theirs: t(`clients.${theirs as ClientAccessKind}`) })
        : t('form.clash', { field: t('clients.list'), theirs: (theirs as string[]).join(', ') || '–' })
    )
  }
  const here = current.your_address
  const save = useMutation({
    mutationFn: () => {
      // What is on its way is not lost: nothing is asked.
      onChanged(false)
      onSending(true)
      return call(orders.setClientAccess, {
        params: { id: orderId },
        body: { access, client_ips: access === 'password' ? [] : lines, version: current.version }
      })
    },
    onSuccess: () => {
      draft.forget()
      notify('good', t('clients.saved'))
      void refresh(orders.clientAccess)
      onSaved()
    },
    onError: error => {
      const stale = error instanceof ApiError && error.refusal.reason === 'stale'
      const list = fieldTexts(error)['client_ips']
      if (stale) void refresh(orders.clientAccess)
      // It was closed while the call was out.
      if (!isShown()) return notify('bad', failureText(error))
      onChanged(true)
      const clashes = stale && error.refusal.current ? goOnFrom(error.refusal.current as ClientAccess) : []
      setWrong(list ? { list } : { form: [failureText(error), ...clashes].join(' ') })
    },
    onSettled: () => onSending(false)
  })
  return (
    <form
      className="stack"
      noValidate
      onSubmit={event => {
        event.preventDefault()
        setWrong({})
        save.mutate()
      }}
    >
      <NativeSelect
        label={t('clients.access')}
        description={t(`clients.${access}.hint`)}
        value={access}
        onChange={event => setAccess(event.currentTarget.value as ClientAccessKind)}
        data={KINDS.map(kind => ({ value: kind, label: t(`clients.${kind}`) }))}
      />
      {access !== 'password' && (
        <>
          <Textarea
            label={t('clients.list')}
            description={t('clients.listHint')}
            autosize={false}
            rows={6}
            classNames={{ input: 'mono' }}
            error={wrong.list && saidAgain(wrong.list)}
            spellCheck={false}
            value={text}
            onChange={event => {
              setText(event.currentTarget.value)
              setWrong({})
            }}
          />
          {!ofOperator && (
            <Button
              variant="default"
              size="sm"
              disabled={lines.includes(here)}
              onClick={() => setText([...lines, here].join('\n'))}
            >
              {t('clients.addMine', { address: here })}
            </Button>
          )}
          <p className="dim">{t('clients.warning')}</p>
        </>
      )}
      {wrong.form && <FormAlert key={wrong.form} words={() => saidAgain(wrong.form ?? '')} takesFocus={false} />}
      {current.is_pending && <p role="status">{t('clients.pending')}</p>}
      <div className="row">
        <Button type="submit" loading={save.isPending}>
          {t('clients.save')}
        </Button>
        <Button variant="default" onClick={onClose}>
          {t('settings.cancel')}
        </Button>
      </div>
    </form>
  )
}
