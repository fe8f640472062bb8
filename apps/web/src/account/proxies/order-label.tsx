import '../../kit/styles/forms.ts'
import type { Order } from '@netlet/contract'
import { LABEL_LENGTH } from '@netlet/contract/limits'
import { ActionIcon, TextInput } from '@mantine/core'
import { IconCheck, IconPencil, IconX } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { useT } from '../../i18n/proxies.ts'
import classes from './orders.module.css'
import { useOrderLabel } from './use-order-label.ts'

/** The customer's label of an order, which it edits where it stands: Enter saves, Escape leaves it as it was. */
export function OrderLabel({ order }: { order: Order }) {
  const t = useT()
  const [text, setText] = useState<string | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    setText(null)
    // The field that had the focus is gone.
    requestAnimationFrame(() => button.current?.focus())
  }
  const save = useOrderLabel(order, 'label', close)
  if (text === null)
    return (
      <button
        ref={button}
        type="button"
        className={classes.label}
        data-empty={order.label === null || undefined}
        aria-label={order.label ? t('label.edit', { label: order.label }) : `${t('label.add')}: ${order.order_id}`}
        title={order.label ?? t('label.add')}
        onClick={() => setText(order.label ?? '')}
      >
        <IconPencil size={14} aria-hidden />
        {order.label && <span>{order.label}</span>}
      </button>
    )
  return (
    <form
      className={classes.labelForm}
      onSubmit={event => {
        event.preventDefault()
        if (text.trim() === (order.label ?? '')) close()
        else save.mutate(text)
      }}
      onKeyDown={event => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        close()
      }}
    >
      <TextInput
        size="xs"
        aria-label={t('label.of', { order: order.order_id })}
        maxLength={LABEL_LENGTH}
        value={text}
        autoFocus
        onChange={event => setText(event.currentTarget.value)}
      />
      <ActionIcon type="submit" size={30} loading={save.isPending} aria-label={t('save')} title={t('save')}>
        <IconCheck size={16} />
      </ActionIcon>
      <ActionIcon size={30} variant="subtle" color="gray" aria-label={t('cancel')} title={t('cancel')} onClick={close}>
        <IconX size={16} />
      </ActionIcon>
    </form>
  )
}
