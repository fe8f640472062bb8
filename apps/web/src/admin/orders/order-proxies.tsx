import type { Order, OrderProxy } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Switch } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { parseAsBoolean, parseAsInteger, useQueryStates } from 'nuqs'
import { useState } from 'react'
import { Link } from 'react-router'
import { usePollInterval } from '../../api/feed-connected.ts'
import { useMay } from '../../api/session.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { hostPort } from '../../kit/host-port.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { Delay } from '../../kit/delay.tsx'
import { isMoving } from '../../kit/order-state.tsx'
import { StateBadge, type Tone } from '../../kit/state-badge.tsx'
import { Ago } from '../../kit/time.tsx'
import { DataTable, WorkButton } from '../kit/index.ts'

const SIZES = [10, 20, 50, 100]
const STANDARD = 10
/** Milliseconds between polls while a task runs on the order. */
const WATCH = 5000

/** The page of addresses in the address bar. Returned addresses are shown on request. */
function usePaging() {
  const [{ proxies, per, retired }, set] = useQueryStates(
    {
      proxies: parseAsInteger.withDefault(1),
      per: parseAsInteger.withDefault(STANDARD),
      retired: parseAsBoolean.withDefault(false)
    },
    { history: 'push' }
  )
  const size = SIZES.includes(per) ? per : STANDARD
  const page = Math.max(1, proxies)
  return {
    retired,
    setRetired: (next: boolean) => void set({ retired: next || null, proxies: null }),
    paging: {
      page,
      size,
      limit: size,
      offset: (page - 1) * size,
      setPage: (next: number | ((page: number) => number)) =>
        void set({ proxies: typeof next === 'function' ? next(page) : next }),
      setSize: (next: number | ((size: number) => number)) =>
        void set({ per: typeof next === 'function' ? next(size) : next, proxies: 1 })
    }
  }
}

/** No more addresses are delivered unless an operator reopens it. */
const isOver = ({ state }: Order) => ['expired', 'refunded', 'cancelled', 'timed_out'].includes(state)

export function OrderProxies({ order }: { order: Order }) {
  const t = useT()
  const { paging, retired, setRetired } = usePaging()
  const watch = usePollInterval(WATCH)
  const { data, isPending, error, refetch } = useQuery({
    ...read(orders.proxies, {
      params: { id: order.id },
      query: { limit: paging.limit, offset: paging.offset, retired: retired ? '1' : '0' }
    }),
    placeholderData: keepPreviousData,
    refetchInterval: isMoving(order) ? watch : false
  })
  return (
    <section className="stack" aria-label={t('orders.proxies')}>
      <div className="row" style={{ gap: '0.5rem 1rem' }}>
        <h3 className="size-lead">{t('orders.proxies')}</h3>
        <Switch
          size="xs"
          label={t('orders.showRetired')}
          checked={retired}
          onChange={event => setRetired(event.currentTarget.checked)}
        />
        <span className="push">
          <Credentials order={order} />
        </span>
      </div>
      <DataTable
        label={t('orders.proxies')}
        columns={useColumns()}
        rows={data?.data}
        rowKey={proxy => proxy.id}
        pending={isPending}
        error={error}
        onRetry={() => void refetch()}
        empty={
          retired
            ? { title: t('orders.noRetired'), compact: true }
            : {
                title: t('orders.noProxies'),
                body: t(isOver(order) ? 'orders.noProxiesOver' : 'orders.noProxiesHint'),
                compact: true
              }
        }
        problem={proxy => proxy.state !== 'retired' && proxy.server_status === 'given_up'}
        paging={paging}
        total={data?.total}
        sizes={SIZES}
      />
    </section>
  )
}

const TONES: Record<OrderProxy['state'], Tone> = { pending: 'wait', live: 'good', retired: 'off' }

function useColumns() {
  const t = useT()
  const accountT = useAccountT()
  return [
    {
      key: 'ip',
      title: t('orders.address'),
      lead: true,
      render: (proxy: OrderProxy) => <span className="mono">{hostPort(proxy.ip, proxy.port)}</span>
    },
    {
      key: 'server',
      title: t('orders.server'),
      render: (proxy: OrderProxy) => (
        <>
          <Link to={`${pageAt('servers')}?open=${proxy.server_id}`}>{proxy.server}</Link>
          {proxy.server_status !== 'active' && (
            <span className="dim">{`, ${t(`servers.is.${proxy.server_status}`)}`}</span>
          )}
        </>
      )
    },
    {
      key: 'state',
      title: t('orders.state'),
      render: (proxy: OrderProxy) => (
        <StateBadge tone={TONES[proxy.state]}>{t(`orders.proxy.${proxy.state}`)}</StateBadge>
      )
    },
    {
      key: 'status',
      title: t('orders.checked'),
      render: ({ status, checked_at }: OrderProxy) =>
        checked_at === null || status === null ? (
          <span className="dim">{accountT('proxy.unknown')}</span>
        ) : (
          <>
            {accountT(status ? 'proxy.good' : 'proxy.bad')}{' '}
            <span className="dim">
              <Ago at={checked_at} />
            </span>
          </>
        )
    },
    ...(['google', 'bing', 'amazon'] as const).map(site => ({
      key: site,
      title: site.charAt(0).toUpperCase() + site.slice(1),
      align: 'end' as const,
      render: (proxy: OrderProxy) => <Delay ms={proxy[`${site}_delay`]} />
    }))
  ]
}

/** The order's username and password, shared by its proxies. Read only on request. */
function Credentials({ order }: { order: Order }) {
  const t = useT()
  const { mayCall } = useMay()
  const [wanted, setWanted] = useState(false)
  const { data, error, isFetching, refetch } = useQuery({
    ...read(orders.proxyDetail, { params: { id: order.id }, query: { limit: 1 } }),
    enabled: wanted
  })
  if (!mayCall(orders.proxyDetail) || order.delivery_num === 0) return null
  const proxy = wanted ? data?.proxy_list[0] : undefined
  if (!proxy)
    return (
      <>
        {wanted && !isFetching && (error || data) && (
          <span role="alert" className="bad size-table">
            {error ? failureText(error) : t('orders.noProxies')}
          </span>
        )}
        <WorkButton
          variant="default"
          size="compact-sm"
          working={wanted && isFetching}
          onClick={() => (wanted ? void refetch() : setWanted(true))}
        >
          {t('orders.showPassword')}
        </WorkButton>
      </>
    )
  const text = `${proxy.username}:${proxy.password}`
  return (
    <span className="row inline breaks" style={{ gap: '0.5rem' }}>
      <span className="mono">{text}</span>
      <CopyButton text={text} size="compact-sm" name={t('orders.copyPassword')} />
    </span>
  )
}
