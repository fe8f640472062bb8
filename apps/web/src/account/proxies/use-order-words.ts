import type { Order } from '@netlet/contract'
import { useState, type FormEvent, type KeyboardEvent } from 'react'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { useT } from '../../i18n/proxies.ts'
import { useDraft, useKeptDraft } from '../../kit/draft.ts'
import { useFocusAfterReplace } from '../../kit/focus-return.ts'
import { notify } from '../../kit/notify.ts'

/**
 * A customer's label or note on an order, edited in place. `form` saves, Escape cancels, an empty text deletes. `text`
 * is null while `button`, which opens the form, is shown. A draft survives another selection, a reload and an expired
 * session; `takesFocus` is then false.
 */
export function useOrderWords(order: Order, field: 'label' | 'note') {
  const t = useT()
  const before = order[field] ?? ''
  // If another browser saved other words, show those instead of overwriting them unseen.
  const draft = useDraft(`${field}-${order.id}`, { text: '' }, before)
  const [text, setText] = useState(draft.kept.text || null)
  useKeptDraft(draft, { entered: text === null || text.trim() === before ? {} : { text }, version: before })
  const [takesFocus, setTakesFocus] = useState(false)
  const button = useFocusAfterReplace(text !== null)
  const open = () => {
    setTakesFocus(true)
    setText(before)
  }
  const close = () => {
    draft.forget()
    setText(null)
  }
  const save = useMutation({
    mutationFn: (words: string) => call(orders.label, { params: { id: order.id }, body: { [field]: words } }),
    onSuccess: async () => {
      // Refresh before the field closes, so that the old text does not flash up.
      await refresh(orders.list, orders.proxyDetail)
      notify('good', t(`${field}.saved`))
      close()
    },
    onError: error => notify('bad', failureText(error, t(`${field}.failed`)))
  })
  const form = {
    onSubmit: (event: FormEvent) => {
      event.preventDefault()
      if (text === null || text.trim() === before) close()
      else save.mutate(text)
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      // Stop it from also closing the full view.
      event.stopPropagation()
      close()
    }
  }
  return { text, change: setText, open, takesFocus, close, button, form, isSaving: save.isPending }
}
