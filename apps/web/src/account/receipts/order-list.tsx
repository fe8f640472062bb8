import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/receipts.ts'
import { DataTable } from '../../kit/data-table.tsx'
import { money } from '../../kit/money.ts'
import { Day } from '../../kit/time.tsx'
import { useAddressPaging } from '../../kit/use-paging.ts'

export function OrderList() {
  const t = useT()
  const names = useNames()
  const paging = useAddressPaging(10)
  const { data, isPending, isPlaceholderData, error, refetch } = useQuery({
    ...read(orders.list, { query: { pay_status: '1', limit: paging.limit, offset: paging.offset } }),
    placeholderData: previous => previous
  })
  return (
    <div className="stack">
      <p className="dim">{t('lead')}</p>
      <DataTable
        label={t('title')}
        columns={[
          {
            key: 'order',
            title: t('order'),
            lead: true,
            render: order => (
              <>
                <strong>{names.order(order).product_name}</strong> <span className="mono whole">{order.order_id}</span>
              </>
            )
          },
          { key: 'date', title: t('date'), render: order => <Day at={order.created_at} /> },
          { key: 'paid', title: t('paid'), align: 'end', render: order => money(order.pay_amount ?? order.amount) },
          {
            key: 'open',
            title: t('open'),
            hidden: true,
            bare: true,
            align: 'end',
            render: order => (
              <Button
                component={Link}
                to={pageAt('receipts', { order: order.id })}
                size="xs"
                variant="default"
                aria-label={`${t('open')}: ${t('openOf', { order: order.order_id })}`}
              >
                {t('open')}
              </Button>
            )
          }
        ]}
        rows={data?.data}
        rowKey={order => order.id}
        pending={isPending}
        stale={isPlaceholderData}
        error={error}
        onRetry={() => void refetch()}
        empty={{
          title: t('noOrder'),
          body: t('noneHint'),
          action: (
            <Button component={Link} to={pageAt('product')}>
              {t('browse')}
            </Button>
          )
        }}
        paging={paging}
        total={data?.total}
      />
    </div>
  )
}
