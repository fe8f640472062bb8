import '../../kit/styles/forms.ts'
import type { Order } from '@netlet/contract'
import { NOTE_LENGTH } from '@netlet/contract/limits'
import { Button, Textarea } from '@mantine/core'
import { IconNote } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { useT } from '../../i18n/proxies.ts'
import classes from './panel.module.css'
import { useOrderLabel } from './use-order-label.ts'

/** What the customer has written down about an order. */
export function OrderNote({ order }: { order: Order }) {
  const t = useT()
  const [text, setText] = useState<string | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    setText(null)
    requestAnimationFrame(() => button.current?.focus())
  }
  const save = useOrderLabel(order, 'note', close)
  if (text === null)
    return (
      <div className={classes.note}>
        {order.note && <p>{order.note}</p>}
        <Button
          ref={button}
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<IconNote size={15} aria-hidden />}
          onClick={() => setText(order.note ?? '')}
        >
          {t(order.note ? 'note.edit' : 'note.add')}
        </Button>
      </div>
    )
  return (
    <form
      className={classes.noteForm}
      onSubmit={event => {
        event.preventDefault()
        save.mutate(text)
      }}
      onKeyDown={event => {
        if (event.key !== 'Escape') return
        // The full view stays.
        event.stopPropagation()
        close()
      }}
    >
      <Textarea
        label={t('note.title')}
        description={t('note.hint', { max: NOTE_LENGTH })}
        maxLength={NOTE_LENGTH}
        rows={3}
        value={text}
        autoFocus
        onChange={event => setText(event.currentTarget.value)}
      />
      <div className="row">
        <Button type="submit" size="sm" loading={save.isPending}>
          {t('save')}
        </Button>
        <Button size="sm" variant="subtle" color="gray" onClick={close}>
          {t('cancel')}
        </Button>
      </div>
    </form>
  )
}
