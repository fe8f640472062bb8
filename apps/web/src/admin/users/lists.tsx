import type { Order, Page, Payment, Ticket, UserDetail, UserLogin } from '@netlet/contract'
import { deviceIn } from '@netlet/contract/device-words'
import { planName } from '@netlet/contract/languages'
import { pageAt } from '@netlet/contract/pages'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { parseAsInteger, parseAsString, parseAsStringLiteral, useQueryState, useQueryStates } from 'nuqs'
import { Link } from 'react-router'
import { type Endpoint, call } from '../../api/client.ts'
import { keyOf } from '../../api/query.ts'
import { accounts, orders, payments, support } from '../../api/routes.ts'
import { type Key, useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { money, moneyIn } from '../../kit/money.ts'
import { none } from '../../kit/none.tsx'
import { OrderStateBadge, isProblem } from '../../kit/order-state.tsx'
import { Ago, Day } from '../../kit/time.tsx'
import { type Column, DataTable, Pager } from '../kit/index.ts'
import { OrderLink } from '../orders/cells.tsx'
import { PaymentStateBadge } from '../payments/page.tsx'
import { StateCell } from '../tickets/cells.tsx'
import { Address } from './cells.tsx'

type Props = { user: UserDetail }

/** Filters of the tab that the summary's figures link to. */
const SOME = { live: { live: '1' }, unpaid: { state: 'placed' } } as const
const NAMES = Object.keys(SOME) as (keyof typeof SOME)[]

export function OrdersTab({ user }: Props) {
  const t = useT()
  const [some] = useQueryState('orders_are', parseAsStringLiteral(NAMES))
  return (
    <div className="stack">
      <p>
        <Link to={pageAt('Orders', { username: user.username })}>{t('users.orders')}</Link>
      </p>
      {some && (
        <p>
          {t(`users.figure.${some}`)} · <Link to="?tab=orders">{t('users.allOrders')}</Link>
        </p>
      )}
      <PagedTable<Order>
        name="orders"
        route={orders.list}
        query={{ user_id: user.id, ...(some && SOME[some]) }}
        problem={isProblem}
        columns={[
          {
            key: 'order',
            title: t('orders.order'),
            lead: true,
            render: order => <OrderLink id={order.id} number={order.order_id} />
          },
          {
            key: 'product',
            title: t('orders.product'),
            render: planName
          },
          { key: 'state', title: t('orders.state'), wide: true, render: order => <OrderStateBadge order={order} /> },
          {
            key: 'delivered',
            title: t('orders.delivered'),
            align: 'end',
            render: order => `${order.delivery_num}/${order.proxy_num}`
          },
          {
            key: 'amount',
            title: t('orders.amount'),
            align: 'end',
            render: order => money(order.pay_amount ?? order.amount)
          },
          { key: 'created_at', title: t('orders.created_at'), render: order => <Day at={order.created_at} /> },
          {
            key: 'expired_at',
            title: t('orders.expired_at'),
            render: order => (order.expired_at ? <Ago at={order.expired_at} /> : none)
          }
        ]}
      />
    </div>
  )
}

export function PaymentsTab({ user }: Props) {
  const t = useT()
  return (
    <PagedTable<Payment>
      name="payments"
      route={payments.ofUser}
      params={{ id: user.id }}
      columns={[
        {
          key: 'platform',
          title: t('payments.platform_order'),
          lead: true,
          render: payment => (
            <Link className="mono" to={`${pageAt('payments')}?search=${encodeURIComponent(payment.platform_order)}`}>
              {payment.platform_order}
            </Link>
          )
        },
        {
          key: 'order',
          title: t('payments.order'),
          wide: true,
          render: payment => <OrderLink id={payment.order_id} number={payment.order} />
        },
        { key: 'kind', title: t('users.kind'), render: payment => t(`users.kind.${payment.kind}`) },
        {
          key: 'state',
          title: t('payments.state'),
          render: payment => <PaymentStateBadge state={payment.state} />
        },
        {
          key: 'charged',
          title: t('payments.charged'),
          align: 'end',
          render: payment => <span className="num">{moneyIn(payment.charged, payment.currency)}</span>
        },
        {
          key: 'refunded',
          title: t('payments.refundedAmount'),
          align: 'end',
          render: payment =>
            payment.refunded_amount === '0.00' ? none : moneyIn(payment.refunded_amount, payment.currency)
        },
        { key: 'created_at', title: t('users.paidAt'), render: payment => <Day at={payment.created_at} /> }
      ]}
    />
  )
}

export function LoginsTab({ user }: Props) {
  const t = useT()
  const language = useLanguage()
  return (
    <PagedTable<UserLogin>
      name="logins"
      route={accounts.userLogins}
      params={{ id: user.id }}
      columns={[
        { key: 'at', title: t('users.time'), lead: true, render: login => <Ago at={login.at} /> },
        { key: 'method', title: t('users.method'), render: login => t(`users.method.${login.method}`) },
        {
          key: 'device',
          title: t('users.device'),
          render: ({ device }) => (device === null ? none : deviceIn(language, device))
        },
        {
          key: 'ip',
          title: t('users.address'),
          render: login => <Address ip={login.ip} country={login.location} />
        }
      ]}
    />
  )
}

export function TicketsTab({ user }: Props) {
  const t = useT()
  return (
    <div className="stack">
      <p className="dim">{t('users.ticketsOf', { email: user.email })}</p>
      <PagedTable<Ticket>
        name="tickets"
        route={support.userTickets}
        params={{ id: user.id }}
        columns={[
          { key: 'id', title: t('users.id'), align: 'end', render: ticket => ticket.id },
          {
            key: 'username',
            title: t('users.username'),
            lead: true,
            render: ticket => <Link to={`${pageAt('tickets')}?open=${ticket.id}`}>{ticket.username}</Link>
          },
          { key: 'state', title: t('tickets.state'), render: ticket => <StateCell ticket={ticket} /> },
          { key: 'phone', title: t('users.phone'), render: ticket => ticket.phone },
          {
            key: 'message',
            title: t('users.message'),
            wide: true,
            render: ticket => (
              <div className="lines" style={{ maxWidth: '34rem' }}>
                {ticket.message}
              </div>
            )
          },
          { key: 'created_at', title: t('users.time'), render: ticket => <Ago at={ticket.created_at} /> }
        ]}
      />
    </div>
  )
}

const SIZE = 10

type PagedTableProps<Row> = {
  /** The suffix of the tab's words: `users.tab.<name>`, `users.none.<name>`. */
  name: 'orders' | 'payments' | 'points' | 'logins' | 'tickets' | 'audit'
  route: Endpoint
  params?: object
  query?: object
  columns: Column<Row>[]
  /** Marks rows that need attention. */
  problem?: (row: Row) => boolean
}

const ADDRESS = { page: parseAsInteger.withDefault(1), after: parseAsString.withDefault('') }

/** A list of a user's objects, ten a page; the page is in the address. If the total is not exact, pages go by key. */
export function PagedTable<Row extends { id: number }>({
  name,
  route,
  params,
  query,
  columns,
  problem
}: PagedTableProps<Row>) {
  const t = useT()
  const [at, setAt] = useQueryStates(ADDRESS, { history: 'push' })
  const page = Math.max(1, at.page)
  const offset = (page - 1) * SIZE
  const place = at.after ? { after: at.after } : { offset }
  const input = { ...(params && { params }), query: { ...query, limit: SIZE, ...place } }
  const { data, isPending, error, refetch } = useQuery({
    queryKey: keyOf(route, input),
    queryFn: ({ signal }) =>
      (call as (route: Endpoint, input: object, options: object) => Promise<Page<Row>>)(route, input, { signal }),
    placeholderData: keepPreviousData
  })
  const setPage = (next: number | ((page: number) => number)) =>
    void setAt({ page: typeof next === 'function' ? next(page) : next, after: null })
  const isCounted = data?.total_exact ?? true
  const list = {
    page,
    size: SIZE,
    after: at.after,
    go: ({ page: to = page, after = '' }) => void setAt({ page: to, after }),
    ask: () => undefined
  }
  const table = (
    <DataTable
      label={t(`users.tab.${name}`)}
      columns={columns}
      {...(problem && { problem })}
      rows={data?.data}
      rowKey={row => row.id}
      pending={isPending}
      error={error}
      onRetry={() => void refetch()}
      empty={{ title: t(`users.none.${name}` as Key) }}
      {...(isCounted && {
        paging: { page, size: SIZE, limit: SIZE, offset, setPage, setSize: () => undefined },
        total: data?.total
      })}
    />
  )
  if (isCounted || !data) return table
  return (
    <div className="stack">
      {table}
      <Pager list={list} page={data} sizes={[SIZE]} />
    </div>
  )
}
