import { Button } from '@mantine/core'
import { pageAt } from '@netlet/contract/pages'
import { IconExternalLink } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { catalog, orders } from '../../api/routes.ts'
import { reloadSession } from '../../api/session.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { failureText } from '../../i18n/failures.ts'
import { useT } from '../../i18n/product.ts'
import { confirm } from '../confirm.ts'
import { Dialog } from '../dialog.tsx'
import { notify } from '../notify.ts'
import { clock, useSecondsUntil } from '../use-countdown.ts'
import { useOnline } from '../use-online.ts'
import { webAddress } from '../web-address.ts'
import { Facts } from './facts.tsx'
import classes from './payment.module.css'
import { type Pending, keepPayment, pendingPayment } from './pending.ts'

/** Milliseconds between two polls of the payment. */
const POLL = 3000

/**
 * Polls whether an order is paid. `unknown`: the time is over and the server has not answered since, so the order may
 * have been paid while this page was asleep or offline. `pending`: its provider needs days for it.
 */
function usePaymentState({ orderId, deadline }: Pending) {
  const left = useSecondsUntil(deadline)
  const isOnline = useOnline()
  const { data, dataUpdatedAt, errorUpdatedAt } = useQuery({
    ...read(orders.payment, { query: { order_id: orderId } }),
    staleTime: 0,
    retry: false,
    // The customer is at the checkout in another tab.
    refetchIntervalInBackground: true,
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'pending' ? false : POLL)
  })
  const isLate = left === 0 && dataUpdatedAt < deadline
  // Wait for one failed poll: the answer usually arrives just after the deadline.
  const isUnknown = isLate && (!isOnline || errorUpdatedAt >= deadline)
  const state: 'waiting' | 'pending' | 'paid' | 'cancelled' | 'over' | 'unknown' =
    data?.status === 'success'
      ? 'paid'
      : data?.is_cancelled
        ? 'cancelled'
        : data?.payment_pending
          ? 'pending'
          : data?.status === 'timeout' || (left === 0 && !isLate)
            ? 'over'
            : isUnknown
              ? 'unknown'
              : 'waiting'
  return {
    /** Seconds. */
    left,
    state,
    /** Why we cannot reach the server now. */
    trouble: isOnline ? (errorUpdatedAt > dataUpdatedAt ? ('unreachable' as const) : null) : ('offline' as const),
    /** A payment arrived that does not cover the order. */
    isHeld: Boolean(data?.fail)
  }
}

/** Seconds: the time to pay, and the remaining time from which the link to the dashboard shows. */
const WHOLE = 30 * 60
const OPENS_AT = 20 * 60

const PROXIES = pageAt('Proxies')

type Props = { pending: Pending; blocked?: boolean; onClose: () => void }

/** Counts down the time to pay and detects the payment. `blocked`: the browser blocked the tab, so offer a link. */
export function PaymentDialog({ pending, blocked = false, onClose }: Props) {
  const t = useT()
  const navigate = useNavigate()
  const { left, state, trouble, isHeld } = usePaymentState(pending)
  const url = webAddress(pending.checkoutUrl)
  const cancel = useCancel(onClose)

  const isOver = state === 'over' || state === 'cancelled'
  useEffect(() => {
    if (state === 'paid' || isOver) keepPayment(null)
    if (isOver) void refresh(orders.list, catalog.products)
    if (state !== 'paid') return
    void refresh(orders.list, orders.proxyDetail, catalog.products)
    void reloadSession()
    onClose()
    void navigate(`${PROXIES}?order=${pending.id}&live=1`)
    // oxlint-disable-next-line react/exhaustive-deps -- once for each outcome
  }, [state])

  const isOpen = state === 'waiting'
  const mayBePaid = state === 'unknown' || state === 'pending'
  const leave = async () => {
    if (isOpen && !(await confirm({ title: t('pay.closeTitle'), body: t('pay.closeBody') }))) return
    keepPayment(null)
    onClose()
  }
  const toDashboard = () => {
    // The next purchase must not ask about this payment.
    keepPayment(null)
    onClose()
    void refresh(orders.list)
    void navigate(`${PROXIES}?order=${pending.id}`)
  }
  const titles = {
    waiting: t('pay.title'),
    pending: t('pay.titlePending'),
    paid: t('pay.title'),
    over: t('pay.titleOver'),
    cancelled: t('pay.titleCancelled'),
    unknown: t('pay.titleUnknown')
  }
  const reasons = {
    waiting: null,
    pending: null,
    paid: null,
    over: isHeld ? null : t('pay.timeout'),
    cancelled: t('pay.cancelledElsewhere'),
    unknown: t('pay.unknown')
  }
  return (
    <Dialog onClose={() => void leave()} title={titles[state]} closeOnClickOutside={false}>
      <div className="stack">
        {reasons[state] && (
          <p role="alert" className="problem strong">
            {reasons[state]}
          </p>
        )}
        {state === 'pending' && <p role="status">{t('pay.pending')}</p>}
        {state === 'over' && <p role="status">{t(isHeld ? 'pay.heldOver' : 'pay.sent')}</p>}
        {isOpen && (
          <>
            <p className={classes.clock} role="timer" aria-label={t('pay.left')}>
              {clock(left)}
            </p>
            <div className={classes.track} aria-hidden>
              <div style={{ width: `${Math.min(100, (left / WHOLE) * 100)}%` }} />
            </div>
            {isHeld && <p role="alert">{t('pay.held')}</p>}
            {trouble && (
              <p role="status" className="caution">
                {t(trouble === 'offline' ? 'pay.offline' : 'pay.unreachable')}
              </p>
            )}
            <p className="dim">{blocked ? t('pay.blocked') : t('pay.hint')}</p>
          </>
        )}
        <Facts pending={pending} />
        {isOpen ? (
          <div className={classes.actions}>
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
            <Button disabled={left > OPENS_AT} variant={blocked ? 'default' : 'filled'} onClick={toDashboard}>
              {left > OPENS_AT ? t('pay.progress') : t('pay.paid')}
            </Button>
            <Button variant="subtle" color="gray" loading={cancel.pending} onClick={() => void cancel.ask(pending.id)}>
              {t('pay.cancel')}
            </Button>
          </div>
        ) : (
          <>
            <Button onClick={mayBePaid || isHeld ? toDashboard : () => void leave()}>
              {mayBePaid || isHeld ? t('pay.toDashboard') : t('pay.again')}
            </Button>
            {state === 'cancelled' && (
              <Button variant="default" onClick={toDashboard}>
                {t('pay.toDashboard')}
              </Button>
            )}
          </>
        )}
      </div>
    </Dialog>
  )
}

/** Cancels an unpaid order after a confirmation. */
export function useCancel(onCancelled: () => void = () => undefined) {
  const t = useT()
  const cancel = useMutation({
    mutationFn: (id: number) => call(orders.cancel, { params: { id } }),
    onSuccess: (_, id) => {
      if (pendingPayment(Date.now())?.id === id) keepPayment(null)
      notify('good', t('pay.cancelled'))
      onCancelled()
    },
    onError: error => notify('bad', failureText(error, t('pay.cancelFailed'))),
    // Also after a refusal, because the order may have been paid.
    onSettled: () => refresh(orders.list, orders.proxyDetail, orders.payment, catalog.products)
  })
  return {
    pending: cancel.isPending,
    ask: async (id: number) => {
      const question = { title: t('pay.cancelTitle'), body: t('pay.cancelBody'), danger: true }
      if (await confirm(question)) cancel.mutate(id)
    }
  }
}
