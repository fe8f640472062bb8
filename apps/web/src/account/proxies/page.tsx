import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { Link, useParams } from 'react-router'
import type { Order } from '@netlet/contract'
import { planName } from '@netlet/contract/languages'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { onSessionChange } from '../../api/session.ts'
import { useNames } from '../../i18n/names.ts'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/proxies.ts'
import { DataTable } from '../../kit/data-table.tsx'
import { passFocus } from '../../kit/focus-return.ts'
import { scrollMotion } from '../../kit/scroll-motion.ts'
import { isMoving, isProblem } from '../../kit/order-state.tsx'
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
import { usePollInterval } from '../../api/feed-connected.ts'
import { useAddressPaging } from '../../kit/use-paging.ts'
import { OF_ONE_ORDER } from './use-proxy-list.ts'

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
    <div className="stack" style={{ gap: '1.5rem' }}>
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
      <div ref={table} className={classes.table}>
        <DataTable
          label={tAccount('orders.label')}
          skip={tAccount('skip.orders')}
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
          empty={{
            title: t(collection ? 'orders.noneHere' : 'orders.none'),
            body: t('orders.noneHint'),
            action: (
              <Button component={Link} to={collection ? `${pageAt('product')}?parId=${collection}` : pageAt('product')}>
                {t('orders.shop')}
              </Button>
            )
          }}
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
        <div ref={panel}>
          <ProxyPanel
            key={selected?.id ?? 0}
            order={selected}
            loading={list.looking}
            format={format}
            live={selected !== undefined && live === selected.id}
            onDismiss={list.dismiss}
            onPay={pay}
          />
        </div>
      )}
      {selected?.pay_status === 1 && (
        <TrafficPanel
          key={`traffic ${selected.id}`}
          query={range => read(orders.traffic, { params: { id: selected.id }, query: range })}
        />
      )}
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

/** Milliseconds between polls of an order with a running task, without the change feed. */
const WATCH = 2500

/**
 * A page of the customer's orders and the selected one: that of the address (`order`), on any page, else the newest on
 * this page that did not end unpaid. `live`: the order just paid, until it is dismissed or the page reloads.
 */
function useOrders(collection: number | undefined) {
  const interval = usePollInterval(WATCH)
  const { query, change } = useAddress()
  const paging = useAddressPaging(5)
  const { data, isPending, isPlaceholderData, error, refetch } = useQuery({
    ...read(orders.list, { query: { limit: paging.limit, offset: paging.offset, product_type: collection } }),
    placeholderData: previous => previous,
    refetchInterval: query => (query.state.data?.data.some(isMoving) ? interval : false)
  })
  const rows = data?.data
  const chosen = numberIn(query, 'order')
  const newest = rows?.find(order => order.state !== 'cancelled' && order.state !== 'timed_out') ?? rows?.[0]
  // Keep the selection while this page of the list is shown, even if the order changes.
  const place = `${paging.limit} ${paging.offset}`
  const [auto, setAuto] = useState<{ place: string; id: number } | null>(null)
  const kept = auto?.place === place ? rows?.find(order => order.id === auto.id) : undefined
  if (newest && !kept && !isPlaceholderData) setAuto({ place, id: newest.id })
  const onPage = rows?.find(order => order.id === chosen)
  const elsewhere = chosen !== undefined && rows !== undefined && !onPage && !isPlaceholderData
  const other = useQuery({ ...read(orders.list, { query: { id: chosen ?? 0, limit: 1 } }), enabled: elsewhere })
  const found = elsewhere ? other.data?.data[0] : undefined

  const isLive = query.get('live') === '1' && chosen !== undefined
  const [live, setLive] = useState<number | null>(null)
  useEffect(() => {
    if (!isLive) return
    setLive(chosen)
    // A reload or a shared link is not a new payment.
    change({ live: null })
  }, [isLive, chosen, change])

  return {
    rows,
    total: data?.total,
    pending: isPending,
    stale: isPlaceholderData,
    error,
    retry: () => void refetch(),
    paging,
    selected: chosen === undefined ? (kept ?? newest) : (onPage ?? found),
    /** The selected order is not known yet. */
    looking: isPending || (elsewhere && other.isPending),
    /** There are or may be orders. */
    hasPanel: (isPending || rows?.length !== 0 || found !== undefined) && !(error && !data),
    select: (id: number) => change({ ...(id === chosen ? {} : OF_ONE_ORDER), order: id }, { push: true }),
    live,
    dismiss: () => setLive(null)
  }
}
