import type { Order } from '@netlet/contract'
import { ActionIcon, Button, TextInput } from '@mantine/core'
import { IconCheck, IconPencil, IconRefresh, IconX } from '@tabler/icons-react'
import type { Names } from '../../i18n/names.ts'
import { type T, useT } from '../../i18n/proxies.ts'
import type { Column } from '../../kit/data-table.tsx'
import { Day, useClock } from '../../kit/time.tsx'
import { money, numberText } from '../../kit/money.ts'
import { OrderStateBadge } from '../../kit/order-state.tsx'
import { expectedCharge, useLevelWords } from '../../kit/level-price.tsx'
import { payable, type Pending } from '../../kit/payment/pending.ts'
import { Expiry } from './expiry.tsx'
import classes from './orders.module.css'
import { PayButton } from './proxy-states.tsx'
import { renewable } from './use-renewal.ts'
import { LABEL_LENGTH } from '@netlet/contract/limits'
import '../../kit/styles/forms.ts'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { none } from '../../kit/none.tsx'
import { call } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { useDraft, useKeptDraft } from '../../kit/draft.ts'
import { useFocusAfterReplace } from '../../kit/focus-return.ts'
import { notify } from '../../kit/notify.ts'

/** Names shown of a long list. */
const SHOWN = 2

/** The first rules of an order, and the rest on request, in a fixed width. */
function Rules({ names }: { names: string[] }) {
  const t = useT()
  const [all, setAll] = useState(false)
  if (names.length === 0) return none
  const shown = all ? names : names.slice(0, SHOWN)
  const more = names.length - SHOWN
  return (
    <span className={classes.rules} title={names.join(', ')}>
      <span className={`cut ${classes.ruleNames}`} data-all={all || undefined}>
        {shown.join(', ')}
      </span>
      {more > 0 && (
        <button
          type="button"
          className={`bare size-table ${classes.more}`}
          aria-expanded={all}
          onClick={() => setAll(!all)}
        >
          {all ? t('orders.fewer') : t('orders.more', { count: more })}
        </button>
      )}
    </span>
  )
}

/** The customer's label of an order, edited in place: Enter saves, Escape cancels. */
export function OrderLabel({ order }: { order: Order }) {
  const t = useT()
  const { text, change, open, takesFocus, close, button, form, isSaving } = useOrderWords(order, 'label')
  if (text === null)
    return (
      <button
        ref={button}
        type="button"
        className={`row unwrapped inline bare strong size-table ${classes.label}`}
        data-empty={order.label === null || undefined}
        aria-label={order.label ? t('label.edit', { label: order.label }) : `${t('label.add')}: ${order.order_id}`}
        title={order.label ?? t('label.add')}
        onClick={open}
      >
        <IconPencil size={14} aria-hidden />
        {order.label && <bdi className="cut">{order.label}</bdi>}
      </button>
    )
  return (
    <form className="row unwrapped" style={{ gap: '0.25rem' }} {...form}>
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

type Context = {
  t: T
  names: Names
  selected: number | undefined
  picked: ReadonlyMap<number, Order>
  renewing: number | undefined
  onSelect: (id: number) => void
  onPick: (order: Order) => void
  onRenew: (order: Order) => void
  onPay: (pending: Pending) => void
  onCancel: (id: number) => void
}

export const orderColumns = (context: Context): Column<Order>[] => {
  const { t, names, selected, onSelect } = context
  return [
    {
      key: 'order',
      title: t('orders.order'),
      lead: true,
      render: order => (
        <span className={classes.order}>
          <Pick order={order} context={context} />
          <span className="stack start shrinks" style={{ gap: '0.1rem' }}>
            <button
              type="button"
              className={`bare ${classes.select}`}
              aria-pressed={order.id === selected}
              onClick={() => onSelect(order.id)}
            >
              <strong>{names.order(order).product_name}</strong>
              {order.variant_name !== order.product_name && (
                <span className="dim size-label">{names.order(order).variant_name}</span>
              )}
            </button>
            <span className="row" style={{ gap: '0 0.5rem' }}>
              <OrderLabel order={order} />
              <span className={`dim size-label ${classes.number}`}>
                <span className="mono">{order.order_id}</span> · <Day at={order.created_at} />
              </span>
            </span>
          </span>
        </span>
      )
    },
    { key: 'state', title: t('orders.state'), render: order => <OrderStateBadge order={order} /> },
    { key: 'expires', title: t('orders.expires'), render: order => <Expiry order={order} /> },
    { key: 'rules', title: t('orders.rules'), render: order => <Rules names={names.order(order).acl_names} /> },
    {
      key: 'quantity',
      title: t('orders.quantity'),
      align: 'end',
      render: order => numberText(order.product_quantity)
    },
    { key: 'amount', title: t('orders.amount'), align: 'end', render: order => <Amount order={order} /> },
    {
      key: 'actions',
      title: t('orders.actions'),
      hidden: true,
      bare: true,
      align: 'end',
      render: order => <Actions order={order} context={context} />
    }
  ]
}

/** The sum of all payments; without one, the amount to pay. */
function Amount({ order: { pay_amount, amount, discount } }: { order: Order }) {
  const { note, short } = useLevelWords()
  if (pay_amount !== null) return money(pay_amount)
  return (
    <span title={note(amount, discount)}>
      {money(expectedCharge(amount, discount))}
      {discount && <span className={`dim size-label ${classes.note}`}>{short(discount)}</span>}
    </span>
  )
}

function Pick({ order, context: { t, picked, onPick } }: { order: Order; context: Context }) {
  return (
    <label className={classes.pick}>
      <input
        type="checkbox"
        checked={picked.has(order.id)}
        disabled={!renewable(order)}
        aria-label={t('orders.pick', { order: order.order_id })}
        onChange={() => onPick(order)}
      />
    </label>
  )
}

function Actions({ order, context }: { order: Order; context: Context }) {
  const { t, renewing, onRenew, onPay, onCancel } = context
  const pending = payable(order, useClock())
  if (pending)
    return (
      <span className={classes.actions}>
        <PayButton pending={pending} size="xs" className={classes.main} onPay={onPay} />
        <Button variant="subtle" color="gray" size="xs" className={classes.main} onClick={() => onCancel(order.id)}>
          {t('orders.cancel')}
        </Button>
      </span>
    )
  if (!renewable(order)) return null
  return (
    <span className={classes.actions}>
      <Button
        variant="default"
        size="xs"
        className={classes.main}
        leftSection={<IconRefresh size={15} aria-hidden />}
        aria-label={t('orders.renewOf', { order: order.order_id })}
        loading={renewing === order.id}
        onClick={() => onRenew(order)}
      >
        {t('proxy.renew')}
      </Button>
    </span>
  )
}

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
