import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { Link, useParams } from 'react-router'
import type { Order } from '@netlet/contract'
import { planName } from '@netlet/contract/languages'
import { EXPIRING_DAYS } from '@netlet/contract/limits'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { onSessionChange } from '../../api/session.ts'
import { useNames } from '../../i18n/names.ts'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/proxies.ts'
import { DataTable } from '../../kit/data-table.tsx'
import { passFocus } from '../../kit/focus-return.ts'
import { scrollMotion } from '../../kit/scroll-motion.ts'
import { isProblem } from '../../kit/order-state.tsx'
import { PaymentDialog, useCancel } from '../../kit/payment/payment-dialog.tsx'
import { keepPayment, type Pending, useOpenPayment } from '../../kit/payment/pending.ts'
import { TrafficPanel } from '../../kit/traffic/traffic-panel.tsx'
import { numberIn, numberOf, useAddress } from '../../kit/use-address.ts'
import { begin, renewable, type Renewals, useRenewal, useRenewals } from './use-renewal.ts'
import { BulkRenewal } from './bulk-renewal.tsx'
import { orderColumns } from './order-columns.tsx'
import classes from './orders.module.css'
import { ProxyPanel } from './proxy-panel.tsx'
import { DEFAULT_TEMPLATE, type FormatChoice, FORMATS, MAX_TEMPLATE } from './formats.ts'
import { useQuery } from '@tanstack/react-query'
import { ApiError } from '../../api/client.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import { OrderFilters } from './order-filters.tsx'
import { type OrderList, useOrders } from './use-orders.ts'

/** Handles `?renew=ID` of reminder mails: renews that order after the customer confirms. */
function RenewalFromMail() {
  const t = useT()
  const { query, change } = useAddress()
  const id = numberIn(query, 'renew') ?? 0
  const asked = id > 0
  const { data, error } = useQuery({
    ...read(orders.proxyDetail, { params: { id }, query: { limit: 1 } }),
    enabled: asked
  })
  const order = asked ? data?.order : undefined
  const refused = asked && (error !== null || (order !== undefined && !renewable(order)))
  useEffect(() => {
    if (!refused) return
    // A missing or another customer's order is reported like one that cannot be renewed.
    const lost = error instanceof ApiError && error.kind !== 'refused'
    notify('bad', lost ? failureText(error) : t('renew.gone'))
    change({ renew: null })
  }, [refused, error, change, t])
  if (!order || refused) return null
  return <Ask key={order.id} order={order} onAnswered={() => change({ renew: null })} />
}

function Ask({ order, onAnswered }: { order: Order; onAnswered: () => void }) {
  const t = useT()
  const called = useNames().order(order)
  const { start } = useRenewal()
  useEffect(() => {
    const names = {
      plan: planName(called),
      order: order.order_id,
      days: order.renewal_days
    }
    const question = { title: t('renew.title'), body: t('renew.body', names) }
    const ask = async () => {
      if (await confirm(question)) void start(order)
      onAnswered()
    }
    void ask()
    // oxlint-disable-next-line react/exhaustive-deps -- asked once for each order
  }, [order.id])
  return null
}

const KEY = 'netlet-proxy-format'

/** The choice stored in this browser, if it is valid. */
export function storedChoice(): FormatChoice {
  const choice: FormatChoice = { format: 'line', template: DEFAULT_TEMPLATE }
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? 'null') as Record<string, unknown> | null
    const format = FORMATS.find(name => name === kept?.['format'])
    const template = kept?.['template']
    if (format) choice.format = format
    if (typeof template === 'string') choice.template = template.slice(0, MAX_TEMPLATE)
  } catch {
    // Unreadable: use the default.
  }
  return choice
}

/** The format for copying and exporting, remembered on this device. */
function useFormatChoice() {
  const [choice, setChoice] = useState(storedChoice)
  const choose = (next: FormatChoice) => {
    setChoice(next)
    try {
      localStorage.setItem(KEY, JSON.stringify(next))
    } catch {
      // Without storage it lasts until the page closes.
    }
  }
  return [choice, choose] as const
}

export default function ProxiesPage() {
  const { id } = useParams()
  const known = numberOf(id ?? '')
  return <Proxies key={known ?? 'all'} collection={known} />
}

const NOBODY: ReadonlyMap<number, Order> = new Map()

function Proxies({ collection }: { collection: number | undefined }) {
  const t = useT()
  const names = useNames()
  const tAccount = useAccountT()
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const list = useOrders(collection)
  const { rows, selected } = list
  const format = useFormatChoice()
  const [payment, setPayment] = useOpenPayment()
  const [picked, setPicked] = useState(NOBODY)
  const [renewals, renew] = useRenewals()
  // The page stays open when another customer signs in, so clear the selection.
  useEffect(() => onSessionChange(() => setPicked(NOBODY)), [])
  const { renewing, start } = useRenewal()
  const cancel = useCancel()

  const field = useRef<HTMLInputElement>(null)
  const table = useRef<HTMLDivElement>(null)
  const panel = useRef<HTMLDivElement>(null)
  const shows = useRef(false)
  const onSelect = (id: number) => {
    shows.current = narrow
    list.select(id)
  }
  const { live } = list
  useEffect(() => {
    if (live !== null) shows.current = narrow
    // oxlint-disable-next-line react/exhaustive-deps -- once per payment, not when the window gets narrower
  }, [live])
  // On a phone the proxies are far below the selected or paid order, so scroll there.
  useEffect(() => {
    if (!shows.current || !panel.current) return
    shows.current = false
    panel.current.scrollIntoView({ block: 'start', behavior: scrollMotion() })
    panel.current.querySelector('h2')?.focus({ preventScroll: true })
  })

  const none = useNoOrders(list, collection, () => passFocus(field.current))
  const onPick = (order: Order) => {
    const next = new Map(picked)
    if (!next.delete(order.id)) next.set(order.id, order)
    setPicked(next)
  }
  const renewed = ({ opened }: Renewals) => {
    renew(null)
    // Clear the selection, so that the orders are not renewed twice.
    if (opened.length > 0) setPicked(NOBODY)
  }
  const pay = (pending: Pending) => {
    keepPayment(pending)
    setPayment({ pending })
  }
  return (
    <div className={`stack ${classes.page}`} style={{ gap: '1.5rem' }} data-wide>
      {picked.size > 0 && (
        <div
          className={`row ${classes.picked}`}
          style={{ gap: '0.5rem 0.75rem' }}
          role="group"
          aria-label={t('bulk.title')}
        >
          <span role="status">{t('orders.selected', { count: picked.size })}</span>
          <Button size="sm" onClick={() => renew({ orders: [...picked.values()], opened: [] })}>
            {t('bulk.renew', { count: picked.size })}
          </Button>
          <Button
            size="sm"
            variant="subtle"
            color="gray"
            onClick={() => {
              passFocus(table.current?.querySelector<HTMLElement>('input[type="checkbox"]'))
              setPicked(NOBODY)
            }}
          >
            {t('orders.unselect')}
          </Button>
        </div>
      )}
      <div className={classes.columns}>
        <div ref={table} className={classes.table}>
          <DataTable
            label={tAccount('orders.label')}
            skip={tAccount('skip.orders')}
            tools={!list.hasNone && <OrderFilters list={list} field={field} />}
            columns={orderColumns({
              names,
              t,
              selected: selected?.id,
              picked,
              renewing,
              onSelect,
              onPick,
              onRenew: order => void start(order),
              onPay: pay,
              onCancel: id => void cancel.ask(id)
            })}
            rows={rows}
            rowKey={order => order.id}
            pending={list.pending}
            stale={list.stale}
            error={list.error}
            errorText={t('orders.failed')}
            onRetry={list.retry}
            empty={none}
            paging={list.paging}
            total={list.total}
            selected={selected?.id ?? null}
            onRow={order => onSelect(order.id)}
            problem={isProblem}
            needs={59}
          />
        </div>
        {/* Wait for the rows above, or the panel would move. */}
        {list.hasPanel && !list.pending && (
          <div ref={panel} className="stack shrinks" style={{ gap: '1.5rem' }}>
            <ProxyPanel
              key={selected?.id ?? 0}
              order={selected}
              loading={list.looking}
              format={format}
              live={selected !== undefined && live === selected.id}
              onDismiss={list.dismiss}
              onPay={pay}
            />
            {selected?.pay_status === 1 && (
              <TrafficPanel
                key={`traffic ${selected.id}`}
                query={range => read(orders.traffic, { params: { id: selected.id }, query: range })}
              />
            )}
          </div>
        )}
      </div>
      <RenewalFromMail />
      {renewals && (
        <BulkRenewal
          renewals={renewals}
          onOpen={order => {
            begin(order)
            renew({ ...renewals, opened: [...renewals.opened, order.id] })
          }}
          onClose={() => renewed(renewals)}
        />
      )}
      {payment && <PaymentDialog {...payment} onClose={() => setPayment(null)} />}
    </div>
  )
}

/** Why the list is empty, and what to do. @param focus moves the focus from the button, which disappears */
function useNoOrders(
  { view, isFiltered, clear, setView }: OrderList,
  collection: number | undefined,
  focus: () => void
) {
  const t = useT()
  const button = (label: string, onClick: () => void) => (
    <Button
      variant="default"
      onClick={() => {
        focus()
        onClick()
      }}
    >
      {label}
    </Button>
  )
  if (isFiltered)
    return { title: t('orders.noMatch'), body: t('orders.noMatchHint'), action: button(t('proxy.clear'), clear) }
  if (view === 'expiring')
    return {
      title: t('orders.noneExpiring'),
      body: t('orders.noneExpiringHint', { days: EXPIRING_DAYS }),
      action: button(t('orders.showAll'), () => setView('all'))
    }
  return {
    title: t(collection ? 'orders.noneHere' : 'orders.none'),
    body: t('orders.noneHint'),
    action: (
      <Button component={Link} to={collection ? `${pageAt('product')}?parId=${collection}` : pageAt('product')}>
        {t('orders.shop')}
      </Button>
    )
  }
}
