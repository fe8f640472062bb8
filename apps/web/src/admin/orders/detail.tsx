import type { Order } from '@netlet/contract'
import { Button, Skeleton } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { parseAsInteger, useQueryStates } from 'nuqs'
import { useEffect, useRef, type ReactNode } from 'react'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { DataTable } from '../../kit/data-table.tsx'
import { isMoving } from '../../kit/order-state.tsx'
import { useProxyColumns } from '../../kit/proxy-columns.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { Facts, History } from './facts.tsx'
import classes from './orders.module.css'

const SIZES = [10, 20, 50, 100]
const STANDARD = 20
/** Milliseconds between two looks while work runs on the order. */
const WATCH = 5000

/** The proxies' page, in the address as the list's own is. */
function useProxyPaging() {
  const [{ proxies, per }, set] = useQueryStates(
    { proxies: parseAsInteger.withDefault(1), per: parseAsInteger.withDefault(STANDARD) },
    { history: 'push' }
  )
  const size = SIZES.includes(per) ? per : STANDARD
  const page = Math.max(1, proxies)
  return {
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

type Props = { id: number; onBack: () => void; actions: (order: Order) => ReactNode }

/** An order in the list's place: facts, proxies and history. */
export function OrderDetail({ id, onBack, actions }: Props) {
  const t = useT()
  const paging = useProxyPaging()
  const watch = usePollInterval(WATCH)
  const { data, isPending, error, refetch } = useQuery({
    ...read(orders.proxyDetail, { params: { id }, query: { limit: paging.limit, offset: paging.offset } }),
    placeholderData: previous => previous,
    refetchInterval: query => (query.state.data && isMoving(query.state.data.order) ? watch : false)
  })
  const columns = useProxyColumns()
  const back = useRef<HTMLButtonElement>(null)
  // What led here went with the list.
  useEffect(() => back.current?.focus({ preventScroll: true }), [])
  const order = data?.order
  return (
    <div className="stack">
      <div className={classes.bar}>
        <Button
          ref={back}
          variant="default"
          size="sm"
          leftSection={<IconArrowLeft size={16} aria-hidden />}
          onClick={() => {
            paging.setSize(STANDARD)
            onBack()
          }}
        >
          {t('orders.back')}
        </Button>
        <h2 className={`mono ${classes.title}`}>{order?.order_id}</h2>
        <span className={classes.end}>{order && actions(order)}</span>
      </div>
      {error && !data ? (
        <div className="card">
          <ErrorState error={error} fallback="Failed to load order details" onRetry={() => void refetch()} />
        </div>
      ) : (
        <>
          <div className={`card ${classes.panel}`}>{order ? <Facts order={order} /> : <Skeleton height={180} />}</div>
          <section className="stack" aria-label={t('orders.proxies')}>
            <h3 className={classes.heading}>{t('orders.proxies')}</h3>
            <DataTable
              label={t('orders.proxies')}
              columns={columns}
              rows={data?.proxy_list}
              rowKey={proxy => proxy.id}
              pending={isPending}
              empty={{ title: t('orders.noProxies'), body: t('orders.noProxiesHint') }}
              paging={paging}
              total={data?.total}
              sizes={SIZES}
            />
          </section>
          {order && (
            <div className={`card ${classes.panel}`}>
              <History order={order} />
            </div>
          )}
        </>
      )}
    </div>
  )
}
