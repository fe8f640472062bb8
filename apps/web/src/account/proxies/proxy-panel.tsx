import type { Order } from '@netlet/contract'
import { Button } from '@mantine/core'
import { IconActivity, IconCopy, IconDownload, IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useT } from '../../i18n/account.ts'
import { DataTable } from '../../kit/data-table.tsx'
import { OrderCredits } from '../../kit/order-credits.tsx'
import { hasProxies, mayAsk } from '../../kit/order-may.ts'
import { isMoving, OrderStateBadge } from '../../kit/order-state.tsx'
import { useProxyColumns } from '../../kit/proxy-columns.tsx'
import { usePaging } from '../../kit/use-paging.ts'
import { ClientAccessButton } from './client-access.tsx'
import { ExitNote } from './exit-note.tsx'
import classes from './proxies.module.css'
import { renewable, useOrderActions } from './use-order-actions.ts'

const SIZES = [10, 20, 50, 100]
const WATCH = 2500

/** The reply counts as long as it holds a list, whatever its code. */
const holdsList = (body: Record<string, unknown>) =>
  typeof body['data'] === 'object' && body['data'] !== null && 'proxy_list' in body['data']

/** The proxies of the selected order and what can be done with them. */
export function ProxyPanel({ order }: { order: Order | undefined }) {
  const t = useT()
  const interval = usePollInterval(WATCH)
  const paging = usePaging(20)
  const { data, isPending, error, refetch } = useQuery({
    ...read(
      orders.proxyDetail,
      { params: { id: order?.id ?? 0 }, query: { limit: paging.limit, offset: paging.offset } },
      { accept: holdsList }
    ),
    enabled: Boolean(order),
    placeholderData: previous => previous,
    refetchInterval: query => (query.state.data?.order && isMoving(query.state.data.order) ? interval : false)
  })
  const now = data?.order ?? order
  const malformed = data !== undefined && !Array.isArray(data.proxy_list)
  const actions = useOrderActions(now)
  const columns = useProxyColumns()
  return (
    <section className="stack" aria-label={t('proxy.title')}>
      <div className={classes.bar}>
        <div className={classes.which}>
          <h2>{t('proxy.title')}</h2>
          {now && (
            <span className="dim">
              {now.product_name}, <span className="mono">{now.order_id}</span>
            </span>
          )}
          {now && isMoving(now) && <OrderStateBadge order={now} />}
        </div>
        <div className={classes.actions}>
          <Button
            variant="default"
            size="sm"
            leftSection={<IconRefresh size={16} aria-hidden />}
            disabled={!renewable(now)}
            loading={actions.renew.isPending}
            onClick={actions.startRenewal}
          >
            {t('proxy.renew')}
          </Button>
          <Button
            variant="default"
            size="sm"
            leftSection={<IconActivity size={16} aria-hidden />}
            disabled={!now || !mayAsk(now, 'check')}
            loading={actions.check.isPending}
            onClick={() => actions.check.mutate()}
          >
            {t('proxy.check')}
          </Button>
          <ClientAccessButton order={now} />
          <Button
            variant="default"
            size="sm"
            leftSection={<IconCopy size={16} aria-hidden />}
            disabled={!now || !hasProxies(now)}
            loading={actions.copy.isPending}
            onClick={() => actions.copy.mutate()}
          >
            {t('proxy.copy')}
          </Button>
          <Button
            size="sm"
            leftSection={<IconDownload size={16} aria-hidden />}
            disabled={!now || !hasProxies(now)}
            loading={actions.download.isPending}
            onClick={() => actions.download.mutate()}
          >
            {t('proxy.export')}
          </Button>
        </div>
      </div>
      {now && now.pay_status === 1 && <OrderCredits orderId={now.id} />}
      {now && <ExitNote order={now} proxy={malformed ? undefined : data?.proxy_list[0]} />}
      <DataTable
        label={t('proxy.title')}
        columns={columns}
        rows={malformed ? undefined : data?.proxy_list}
        rowKey={proxy => proxy.id}
        pending={isPending}
        error={malformed ? new Error('malformed') : error}
        errorText={malformed ? t('proxy.malformed') : t('proxy.detailsFailed')}
        onRetry={() => void refetch()}
        empty={emptyState(t, now)}
        paging={paging}
        total={malformed ? undefined : data?.total}
        sizes={SIZES}
      />
    </section>
  )
}

function emptyState(t: ReturnType<typeof useT>, order: Order | undefined) {
  if (!order) return { title: t('proxy.noOrder') }
  if (order.state === 'timed_out' || order.state === 'cancelled')
    return {
      title: t(order.state === 'cancelled' ? 'proxy.cancelled' : 'proxy.timedOut'),
      body: t('proxy.timedOutHint'),
      action: <LinkButton to={`/product?id=${order.product_id}`}>{t('proxy.again')}</LinkButton>
    }
  if (order.state === 'failed')
    return {
      title: t('proxy.failed'),
      body: t('proxy.failedHint'),
      action: <LinkButton to="/support#contact">{t('proxy.support')}</LinkButton>
    }
  if (order.state === 'refunded') return { title: t('proxy.refunded'), body: t('proxy.refundedHint') }
  if (order.is_expired)
    return { title: t('proxy.expired'), body: t(renewable(order) ? 'proxy.graceHint' : 'proxy.expiredHint') }
  if (order.pay_status === 0) return { title: t('proxy.unpaid'), body: t('proxy.unpaidHint') }
  if (isMoving(order)) return { title: t('proxy.coming'), body: t('proxy.comingHint') }
  return { title: t('proxy.none') }
}

const LinkButton = ({ to, children }: { to: string; children: string }) => (
  <Button component={Link} to={to} variant="default">
    {children}
  </Button>
)
