import '../styles/overlays.ts'
import { Button, Modal } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { read, refresh } from '../../api/query.ts'
import { catalog, orders } from '../../api/routes.ts'
import { reloadSession } from '../../api/session.ts'
import { useT } from '../../i18n/index.ts'
import { confirm } from '../confirm.ts'
import { clock, useSecondsUntil } from '../use-countdown.ts'
import { webAddress } from '../web-address.ts'
import { keepPayment, type Pending } from './pending.ts'
import { useCancel } from './use-cancel.ts'
import classes from './payment.module.css'

/** Milliseconds between two questions whether the order is paid. */
const POLL = 3000
/** The whole time, and what has to be left of it for the way to the dashboard to open; seconds. */
const WHOLE = 30 * 60
const OPENS_AT = 20 * 60

type Props = { pending: Pending; blocked?: boolean; onClose: () => void }

/** Counts down the time to pay and notices the payment. `blocked`: the browser let no tab open, so a link is offered. */
export function PaymentDialog({ pending, blocked = false, onClose }: Props) {
  const t = useT()
  const navigate = useNavigate()
  const left = useSecondsUntil(pending.deadline)
  const { data } = useQuery({
    ...read(orders.payment, { query: { order_id: pending.orderId } }),
    enabled: left > 0,
    staleTime: 0,
    retry: false,
    // The customer is looking at the checkout in another tab meanwhile.
    refetchIntervalInBackground: true,
    refetchInterval: query => (query.state.data && query.state.data.status !== 'pending' ? false : POLL)
  })
  const paid = data?.status === 'success'
  const over = !paid && (left === 0 || data?.status === 'timeout')
  const url = webAddress(pending.checkoutUrl)
  const cancel = useCancel(onClose)

  useEffect(() => {
    if (paid || over) keepPayment(null)
    if (over) void refresh(orders.list, catalog.products)
    if (!paid) return
    void refresh(orders.list, orders.proxyDetail, catalog.products)
    void reloadSession()
    onClose()
    void navigate('/dashboard/index/proxies')
    // oxlint-disable-next-line react/exhaustive-deps -- once for each outcome
  }, [paid, over])

  const leave = async () => {
    if (!over && !(await confirm({ title: t('pay.closeTitle'), body: t('pay.closeBody') }))) return
    keepPayment(null)
    onClose()
  }
  const toDashboard = () => {
    onClose()
    void refresh(orders.list)
    void navigate('/dashboard/index/proxies')
  }
  return (
    <Modal
      opened
      onClose={() => void leave()}
      title={t('pay.title')}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <div className="stack">
        {over ? (
          <p role="alert" className={classes.over}>
            {t('pay.timeout')}
          </p>
        ) : (
          <>
            <p className={classes.clock} role="timer" aria-label={t('pay.left')}>
              {clock(left)}
            </p>
            <div className={classes.track} aria-hidden>
              <div style={{ width: `${Math.min(100, (left / WHOLE) * 100)}%` }} />
            </div>
            {data?.fail && <p role="alert">{t('pay.held')}</p>}
            <p className="dim">{blocked ? t('pay.blocked') : t('pay.hint')}</p>
          </>
        )}
        <dl className={classes.facts}>
          <dt>{t('pay.order')}</dt>
          <dd className="mono">{pending.orderId}</dd>
        </dl>
        {over ? (
          <Button onClick={() => void leave()}>{t('pay.again')}</Button>
        ) : (
          <div className={classes.actions}>
            <Button variant="subtle" color="gray" loading={cancel.pending} onClick={() => void cancel.ask(pending.id)}>
              {t('pay.cancel')}
            </Button>
            {url && (
              <Button
                component="a"
                href={url}
                target="_blank"
                rel="noopener"
                variant={blocked ? 'filled' : 'default'}
                rightSection={<IconExternalLink size={16} aria-hidden />}
              >
                {t('pay.open')}
              </Button>
            )}
            <Button disabled={left > OPENS_AT} onClick={toDashboard}>
              {left > OPENS_AT ? t('pay.progress') : t('pay.paid')}
            </Button>
          </div>
        )}
      </div>
    </Modal>
  )
}
