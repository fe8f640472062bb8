import './styles/forms.ts'
import type { ClientAccess, ClientAccessKind } from '@netlet/contract'
import { Button, NativeSelect, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError, call } from '../api/client.ts'
import { read, refresh } from '../api/query.ts'
import { orders } from '../api/routes.ts'
import { useMutation } from '../api/use-mutation.ts'
import { useT } from '../i18n/account.ts'
import { t as word } from '../i18n/index.ts'
import { failureText, fieldTexts, translateAgain } from '../i18n/failures.ts'
import { Dialog } from './dialog.tsx'
import { useDraft, useKeptDraft } from './draft.ts'
import { FormAlert } from './form-failure.tsx'
import { useLeaveGuard } from './leave-guard.ts'
import { merge } from './merge.ts'
import { notify } from './notify.ts'
import { useIsShown } from './use-is-shown.ts'

const KINDS: readonly ClientAccessKind[] = ['password', 'address', 'password_and_address']
/** Milliseconds between polls while servers still have to apply a change. */
const WATCH = 2500

type DialogProps = {
  orderId: number
  onClose: () => void
  /** An operator views a customer's order, so their own address is not offered as a client. */
  ofOperator?: boolean
}

/** The form for how an order's proxies authenticate clients. */
export function ClientAccessDialog({ orderId, onClose, ofOperator = false }: DialogProps) {
  const t = useT()
  // Escape, a click outside and the browser's Back ask before they discard changes.
  const guard = useLeaveGuard(false, { keepsDraft: true, onRelease: onClose })
  const isShown = useIsShown()
  const leave = async () => {
    if (await guard.mayLeave()) onClose()
  }
  const { data, error, refetch } = useQuery({
    ...read(orders.clientAccess, { params: { id: orderId } }),
    refetchInterval: query => (query.state.data?.is_pending ? WATCH : false)
  })
  const [sending, setSending] = useState(false)
  // Keep what is typed when another user saves. Our own save is then refused as stale.
  const [shown, setShown] = useState(data)
  if (data !== shown && !guard.isUnsaved() && !sending) setShown(data)
  return (
    <Dialog onClose={() => void leave()} title={t('clients.title')}>
      {shown ? (
        <ClientAccessForm
          key={shown.version}
          orderId={orderId}
          current={shown}
          onClose={() => void leave()}
          // If another dialog has been opened since, leave it open.
          onSaved={() => isShown() && onClose()}
          onChanged={guard.mark}
          isUnsaved={guard.isUnsaved}
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
  current: ClientAccess
  onSaved: () => void
  /** Whether the form differs from what is saved. */
  onChanged: (changed: boolean) => void
  isUnsaved: () => boolean
  /** Whether the call is in flight. */
  onSending: (sending: boolean) => void
}

function ClientAccessForm({
  orderId,
  current: opened,
  onClose,
  onSaved,
  onChanged,
  isUnsaved,
  onSending,
  ofOperator
}: Props) {
  const t = useT()
  const [current, setCurrent] = useState(opened)
  const saved = { access: current.access, text: current.client_ips.join('\n') }
  const draft = useDraft(`clients-${orderId}`, saved, current.version)
  const [access, setAccess] = useState(KINDS.find(kind => kind === draft.kept.access) ?? saved.access)
  const [text, setText] = useState(draft.kept.text ?? saved.text)
  const [wrong, setWrong] = useState<{ list?: string; form?: string }>({})
  const lines = linesOf(text)
  const changed = access !== current.access || (access !== 'password' && lines.join() !== current.client_ips.join())
  useEffect(() => onChanged(changed), [changed, onChanged])
  const isShown = useIsShown()
  /** Merges another user's save with what is entered, so that the next save succeeds. Returns the conflicts. */
  const mergeSaved = (now: ClientAccess) => {
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
      // Changes in flight need no discard question.
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
      // The dialog was closed while the call was in flight.
      if (!isShown()) return notify('bad', failureText(error))
      onChanged(true)
      const clashes = stale && error.refusal.current ? mergeSaved(error.refusal.current as ClientAccess) : []
      setWrong(list ? { list } : { form: [failureText(error), ...clashes].join(' ') })
    },
    onSettled: () => onSending(false)
  })
  useKeptDraft(draft, {
    entered: changed ? { access, text } : {},
    version: current.version,
    isUnsaved: () => save.isPending || isUnsaved()
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
            error={wrong.list && translateAgain(wrong.list)}
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
      {wrong.form && <FormAlert key={wrong.form} words={() => translateAgain(wrong.form ?? '')} takesFocus={false} />}
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
