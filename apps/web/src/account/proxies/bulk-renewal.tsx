import type { Order, ReplyOf } from '@netlet/contract'
import { MOST_RENEWALS } from '@netlet/contract/limits'
import { Button, Skeleton } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { orders } from '../../api/routes.ts'
import { wordsOf } from '../../i18n/failures.ts'
import { t as word } from '../../i18n/index.ts'
import { useT } from '../../i18n/proxies.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { money } from '../../kit/money.ts'
import { ErrorState } from '../../kit/states.tsx'
import { webAddress } from '../../kit/web-address.ts'
import classes from './orders.module.css'

type Answer = ReplyOf<typeof orders.renewMany>[number]

/** Renewals of several orders: browsers open one tab for a click, so each order has its own way to its checkout. */
export function BulkRenewal({ picked, onClose }: { picked: Order[]; onClose: () => void }) {
  const t = useT()
  const asked = picked.slice(0, MOST_RENEWALS)
  const ids = asked.map(order => order.id)
  const { data, error, refetch } = useQuery({
    queryKey: ['renewals', ids],
    queryFn: () => call(orders.renewMany, { body: { order_ids: ids } }),
    // Links to pay at are made for this dialog, and once, whatever else is read again.
    staleTime: 'static',
    gcTime: 0,
    retry: false
  })
  return (
    <Dialog size="lg" onClose={onClose} title={t('bulk.title')}>
      <div className="stack">
        <p className="dim">{t('bulk.hint')}</p>
        {picked.length > asked.length && <p>{t('bulk.limit', { max: MOST_RENEWALS })}</p>}
        {error ? (
          <ErrorState error={error} fallback={t('bulk.failed')} onRetry={() => void refetch()} />
        ) : !data ? (
          <div className="stack" role="status" aria-label={word('loading')}>
            {asked.map(order => (
              <Skeleton key={order.id} height={52} />
            ))}
          </div>
        ) : (
          <>
            {data.every(answer => !('checkout_url' in answer)) && <p role="status">{t('bulk.none')}</p>}
            <ul className={classes.renewals}>
              {asked.map(order => (
                <Renewal key={order.id} order={order} answer={data.find(one => one.id === order.id)} />
              ))}
            </ul>
          </>
        )}
      </div>
    </Dialog>
  )
}

function Renewal({ order, answer }: { order: Order; answer: Answer | undefined }) {
  const t = useT()
  const [opened, setOpened] = useState(false)
  const url = answer && 'checkout_url' in answer ? webAddress(answer.checkout_url) : null
  return (
    <li>
      <span className={classes.renewed}>
        <strong>{order.label ?? order.product_name}</strong>
        <span className="dim">
          {order.label ? `${order.product_name} · ` : ''}
          <span className="mono">{order.order_id}</span>
        </span>
        {answer && 'checkout_url' in answer ? (
          <span className="dim">
            {t('bulk.days', { days: answer.days })} · {t('bulk.paid', { amount: money(order.last_amount) })}
          </span>
        ) : (
          <span className={classes.refused}>
            {answer ? (wordsOf(answer.reason, answer.params) ?? answer.msg) : t('bulk.failed')}
          </span>
        )}
      </span>
      {url && (
        <Button
          component="a"
          href={url}
          target="_blank"
          rel="noopener"
          size="sm"
          variant={opened ? 'default' : 'filled'}
          className={classes.main}
          rightSection={<IconExternalLink size={16} aria-hidden />}
          aria-label={t('bulk.payOf', { order: order.order_id })}
          onClick={() => setOpened(true)}
        >
          {t(opened ? 'bulk.opened' : 'bulk.pay')}
        </Button>
      )}
    </li>
  )
}
