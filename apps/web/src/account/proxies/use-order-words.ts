import type { Order } from '@netlet/contract'
import { useState, type FormEvent, type KeyboardEvent } from 'react'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { useT } from '../../i18n/proxies.ts'
import { draftOf } from '../../kit/draft.ts'
import { useInPlace } from '../../kit/focus-return.ts'
import { notify } from '../../kit/notify.ts'

/**
 * A customer's own words for an order, its label or its note, edited where they stand: `form` saves them, Escape leaves them
 * as they were, and an empty text takes them away. `text` is null while `button`, which opens the form, stands there. What is
 * typed and not saved is there again after another order was looked at, a reload, or a session that ended meanwhile;
 * `takesFocus` is false then.
 */
export function useOrderWords(order: Order, field: 'label' | 'note') {
  const t = useT()
  const before = order[field] ?? ''
  const draft = draftOf(`${field}-${order.id}`, { text: '', before: '' })
  const [text, setText] = useState(() => {
    const kept = draft.read()
    // Where other words were saved meanwhile, as in another browser, they are shown, and not written over unseen.
    return kept.before === before && kept.text ? kept.text : null
  })
  const [takesFocus, setTakesFocus] = useState(false)
  const button = useInPlace(text !== null)
  const open = () => {
    setTakesFocus(true)
    setText(before)
  }
  const change = (words: string) => {
    setText(words)
    if (words.trim() === before) draft.forget()
    else draft.keep({ text: words, before })
  }
  const close = () => {
    draft.forget()
    setText(null)
  }
  const save = useMutation({
    mutationFn: (words: string) => call(orders.label, { params: { id: order.id }, body: { [field]: words } }),
    onSuccess: async () => {
      // Shown before the field closes, so that the former text does not come up in between.
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
      // The full view stays.
      event.stopPropagation()
      close()
    }
  }
  return { text, change, open, takesFocus, close, button, form, isSaving: save.isPending }
}
