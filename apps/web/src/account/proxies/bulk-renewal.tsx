import type { Order, ReplyOf } from '@netlet/contract'
import { MOST_RENEWALS } from '@netlet/contract/limits'
import { fromCents, toCents } from '@netlet/contract/money'
import { Button, Skeleton } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { usePollInterval } from '../../api/feed-connected.ts'
import { read } from '../../api/query.ts'
import { orders } from '../../api/routes.ts'
import { wordsOf } from '../../i18n/failures.ts'
import { useLanguage } from '../../i18n/language.ts'
import { t as word } from '../../i18n/index.ts'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/proxies.ts'
import { useClock } from '../../kit/time.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { money } from '../../kit/money.ts'
import { expectedCharge, useLevelWords } from '../../kit/level-price.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { webAddress } from '../../kit/web-address.ts'
import { dayText } from './expiry.tsx'
import classes from './orders.module.css'
import { type Renewals, isBegun, mayOpenAnother } from './use-renewal.ts'

/** Milliseconds between polls of an order whose checkout was opened, without the change feed. */
const WATCH = 2500

type Answer = ReplyOf<typeof orders.renewMany>[number]

type Props = {
  renewals: Renewals
  onOpen: (order: Order) => void
  onClose: () => void
}

/** Renews several orders. A browser opens only one tab per click, so each order has its own checkout button. */
export function BulkRenewal({ renewals: { orders: picked, opened }, onOpen, onClose }: Props) {
  const t = useT()
  const asked = picked.slice(0, MOST_RENEWALS)
  const ids = asked.map(order => order.id)
  const { data, error, refetch } = useQuery({
    queryKey: ['renewals', ids],
    queryFn: () => call(orders.renewMany, { body: { order_ids: ids } }),
    // Create the payment links once per dialog. They must not be refetched.
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
            <ul className={`stack ${classes.renewals}`} style={{ gap: 0 }}>
              {asked.map(order => (
                <Renewal
                  key={order.id}
                  order={order}
                  answer={data.find(one => one.id === order.id)}
                  opened={opened.includes(order.id) || isBegun(order)}
                  onOpen={() => onOpen(order)}
                />
              ))}
            </ul>
            <Total answers={data} />
          </>
        )}
      </div>
    </Dialog>
  )
}

/** The current total. Hidden if the platform gave no price for one of them. */
function Total({ answers }: { answers: Answer[] }) {
  const t = useT()
  const priced = answers.flatMap(answer => ('checkout_url' in answer ? [answer] : []))
  const prices = priced.flatMap(({ price }) => price ?? [])
  if (priced.length < 2 || prices.length < priced.length) return null
  const full = sumOf(prices)
  const amount = sumOf(priced.map(({ price, discount }) => expectedCharge(price ?? '0', discount)))
  const values = { count: priced.length, amount: money(amount), full: money(full) }
  return <p className="num">{t(amount === full ? 'bulk.total' : 'bulk.totalLevel', values)}</p>
}

const sumOf = (amounts: string[]) => fromCents(amounts.reduce((sum, amount) => sum + toCents(amount), 0n))

type RenewalProps = { order: Order; answer: Answer | undefined; opened: boolean; onOpen: () => void }

function Renewal({ order, answer, opened, onOpen }: RenewalProps) {
  const t = useT()
  const { product_name } = useNames().order(order)
  const { sentence } = useLevelWords()
  const language = useLanguage()
  const now = useClock()
  const interval = usePollInterval(WATCH)
  const { data } = useQuery({
    ...read(orders.list, { query: { id: order.id, limit: 1 } }),
    enabled: opened,
    refetchInterval: interval
  })
  const ends = data?.data[0]?.expired_at ?? null
  const isPaid = ends !== null && ends !== order.expired_at
  const url = answer && 'checkout_url' in answer ? webAddress(answer.checkout_url) : null
  const openAgain = async (address: string) => {
    if (!(await mayOpenAnother(order))) return
    onOpen()
    window.open(address, '_blank', 'noopener')
  }
  return (
    <li>
      <span className="stack breaks shrinks" style={{ gap: 0, flex: '1 1 14rem' }}>
        <strong>
          <bdi>{order.label ?? product_name}</bdi>
        </strong>
        <span className="dim">
          {order.label ? `${product_name} · ` : ''}
          <span className="mono">{order.order_id}</span>
        </span>
        {isPaid ? (
          <span role="status" className="strong good">
            {t('bulk.done', { date: dayText(ends, now, language) })}
          </span>
        ) : answer && 'checkout_url' in answer ? (
          <span className="dim">
            {t('bulk.days', { days: answer.days })} ·{' '}
            {answer.price === null
              ? t('bulk.paid', { amount: money(order.last_amount) })
              : answer.discount
                ? t('bulk.priceLevel', { price: sentence(answer.price, answer.discount) })
                : t('bulk.price', { amount: money(answer.price) })}
          </span>
        ) : (
          <span className="bad">
            {answer ? (wordsOf(answer.reason, answer.params) ?? answer.msg) : t('bulk.failed')}
          </span>
        )}
      </span>
      {url && !isPaid && opened && (
        <Button
          size="sm"
          variant="default"
          className={classes.main}
          aria-label={`${t('bulk.opened')}: ${order.order_id}`}
          onClick={() => void openAgain(url)}
        >
          {t('bulk.opened')}
        </Button>
      )}
      {url && !isPaid && !opened && (
        <Button
          component="a"
          href={url}
          target="_blank"
          rel="noopener"
          size="sm"
          className={classes.main}
          rightSection={<IconExternalLink size={16} aria-hidden />}
          aria-label={`${t('bulk.pay')}: ${order.order_id}`}
          onClick={event => {
            // Another tab may have opened one since the last render.
            if (!isBegun(order)) return onOpen()
            event.preventDefault()
            void openAgain(url)
          }}
        >
          {t('bulk.pay')}
        </Button>
      )}
    </li>
  )
}
