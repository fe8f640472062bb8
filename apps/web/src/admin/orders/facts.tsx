import type { Order } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import accountEn from '../../i18n/account.en.json'
import { useT as useAccountT } from '../../i18n/account.ts'
import en from '../../i18n/admin.en.json'
import { useT, type Key } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import type { Translate } from '../../i18n/words.ts'
import { money } from '../../kit/money.ts'
import { failureKey, orderFailure } from '../../kit/order-failure.ts'
import { isMoving, OrderStateBadge } from '../../kit/order-state.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { UserCell } from './cells.tsx'
import classes from './orders.module.css'

/** Milliseconds between two looks while work runs on the order. */
const WATCH = 5000

/** What there is to know of an order. */
export function Facts({ order }: { order: Order }) {
  const t = useT()
  const accountT = useAccountT()
  const facts: [Key, ReactNode][] = [
    ['orders.order_id', <span className="mono">{order.order_id}</span>],
    ['orders.state', <OrderStateBadge order={order} />],
    ['orders.user', <UserCell order={order} />],
    ['orders.product', `${order.product_name}, ${order.variant_name}`],
    ['orders.quantity', order.product_quantity.toLocaleString('en-US')],
    ['orders.delivered', `${order.delivery_num}/${order.proxy_num}`],
    ['orders.priced', money(order.amount)],
    ['orders.payed', order.pay_amount && money(order.pay_amount)],
    ['orders.refunded', order.refunded_amount !== '0.00' && money(order.refunded_amount)],
    ['orders.platformOrder', order.shopify_order_number && <span className="mono">{order.shopify_order_number}</span>],
    ['orders.created_at', <Moment at={order.created_at} />],
    ['orders.delivered_at', order.delivered_at && <Moment at={order.delivered_at} />],
    ['orders.expired_at', order.expired_at && <Moment at={order.expired_at} />],
    ['orders.grace_until', order.grace_until && <Moment at={order.grace_until} />],
    ['orders.reset_time', order.reset_time && <Moment at={order.reset_time} />],
    ['orders.rules', order.acl_names.join(', ')],
    ['orders.failure', orderFailure(accountT, order)]
  ]
  return (
    <dl className={classes.facts} aria-label={t('orders.facts')}>
      {facts.map(
        ([key, value]) =>
          value && (
            <div key={key}>
              <dt>{t(key)}</dt>
              <dd>{value}</dd>
            </div>
          )
      )}
    </dl>
  )
}

/** What happened to an order, newest first. */
export function History({ order }: { order: Order }) {
  const t = useT()
  const accountT = useAccountT()
  const language = useLanguage()
  const watch = usePollInterval(WATCH)
  const { data, error, refetch } = useQuery({
    ...read(orders.events, { params: { id: order.id } }),
    refetchInterval: isMoving(order) ? watch : false
  })
  return (
    <section aria-label={t('orders.history')}>
      <h3 className={classes.heading}>{t('orders.history')}</h3>
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && <p className="dim">{t('orders.noHistory')}</p>}
      <ol className={classes.history}>
        {data?.map(({ kind, detail, at }, index) => (
          <li key={`${at} ${index}`}>
            <span>{kindText(t, kind)}</span>
            <span className="dim">{detailText({ t, accountT, language }, detail)}</span>
            <Moment at={at} />
          </li>
        ))}
      </ol>
    </section>
  )
}

/** A newer server may write down what this page has no word for. */
function kindText(t: (key: Key) => string, kind: string): string {
  const key = `orders.event.${kind}`
  return key in en ? t(key as Key) : kind
}

const taskText = (t: Translate<typeof en>, task: unknown): string => {
  const key = `orders.${String(task)}`
  return key in en ? t(key as Key) : String(task)
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

type Said = { t: Translate<typeof en>; accountT: Translate<typeof accountEn>; language: string }

/** 'paid → delivering, amount: 10.77': a change of state first, then why, then what else was written down. */
function detailText({ t, accountT, language }: Said, detail: Record<string, unknown>): string {
  const { from, to, code, ...more } = detail
  const said = (value: unknown): string => {
    const words = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
    if (`orders.is.${words}` in en) return t(`orders.is.${words}` as Key)
    return INSTANT.test(words) ? new Date(words).toLocaleString(language) : words
  }
  const values = Object.fromEntries(
    Object.entries(more).map(([name, value]) => [name, name === 'task' ? taskText(t, value) : said(value)])
  )
  const known = typeof code === 'string' ? failureKey(code, values) : undefined
  const rest = Object.entries(values)
    .filter(([name, value]) => value && !(known && accountEn[known].includes(`{${name}}`)))
    .map(([name, value]) => `${`orders.detail.${name}` in en ? t(`orders.detail.${name}` as Key) : name}: ${value}`)
  const change = to === undefined ? '' : `${from ? said(from) : '–'} → ${said(to)}`
  return [change, known ? accountT(known, values) : said(code), ...rest].filter(Boolean).join(', ')
}

function Moment({ at }: { at: string }) {
  const language = useLanguage()
  return (
    <span className={classes.moment}>
      <span className="num">{new Date(at).toLocaleString(language)}</span>
      <span className="dim">
        <Ago at={at} />
      </span>
    </span>
  )
}
