import '../../kit/styles/forms.ts'
import type { Order } from '@netlet/contract'
import { LABEL_LENGTH } from '@netlet/contract/limits'
import { ActionIcon, TextInput } from '@mantine/core'
import { IconCheck, IconPencil, IconX } from '@tabler/icons-react'
import { useT } from '../../i18n/proxies.ts'
import classes from './orders.module.css'
import { useOrderWords } from './use-order-words.ts'

/** The customer's label of an order, edited in place: Enter saves, Escape cancels. */
export function OrderLabel({ order }: { order: Order }) {
  const t = useT()
  const { text, change, open, takesFocus, close, button, form, isSaving } = useOrderWords(order, 'label')
  if (text === null)
    return (
      <button
        ref={button}
        type="button"
        className={classes.label}
        data-empty={order.label === null || undefined}
        aria-label={order.label ? t('label.edit', { label: order.label }) : `${t('label.add')}: ${order.order_id}`}
        title={order.label ?? t('label.add')}
        onClick={open}
      >
        <IconPencil size={14} aria-hidden />
        {order.label && <bdi>{order.label}</bdi>}
      </button>
    )
  return (
    <form className={classes.labelForm} {...form}>
      <TextInput
        size="xs"
        aria-label={t('label.of', { order: order.order_id })}
        placeholder={t('label.limit', { max: LABEL_LENGTH })}
        maxLength={LABEL_LENGTH}
        value={text}
        autoFocus={takesFocus}
        onChange={event => change(event.currentTarget.value)}
      />
      <ActionIcon type="submit" size={30} loading={isSaving} aria-label={t('save')} title={t('save')}>
        <IconCheck size={16} />
      </ActionIcon>
      <ActionIcon size={30} variant="subtle" color="gray" aria-label={t('cancel')} title={t('cancel')} onClick={close}>
        <IconX size={16} />
      </ActionIcon>
    </form>
  )
}
