import type { Order, TimelineEntry } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Skeleton } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { call } from '../../api/client.ts'
import { usePollInterval } from '../../api/feed-connected.ts'
import { useMay } from '../../api/may.ts'
import { keyOf } from '../../api/query.ts'
import { mail, orders, payments } from '../../api/routes.ts'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { isMoving } from '../../kit/order-state.tsx'
import { ErrorState } from '../../kit/states.tsx'
import { Moment } from '../../kit/time.tsx'
import { useCommand, WorkButton } from '../kit/index.ts'
import { detailOf, titleOf } from './timeline-words.ts'
import classes from './orders.module.css'

/** Milliseconds between polls while a task runs on the order. */
const WATCH = 5000
const PAGE = 50

/** An order's events, newest first; `latest` limits their number. */
export function Timeline({ order, latest }: { order: Order; latest?: number }) {
  const t = useT()
  const watch = usePollInterval(WATCH)
  const limit = latest ?? PAGE
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: keyOf(orders.timeline, { params: { id: order.id }, limit }),
    queryFn: ({ pageParam, signal }) =>
      call(
        orders.timeline,
        { params: { id: order.id }, query: { limit, ...(pageParam && { earlier: pageParam }) } },
        { signal }
      ),
    initialPageParam: '',
    getNextPageParam: page => page.next,
    refetchInterval: isMoving(order) ? watch : false
  })
  const entries = data?.pages.flatMap(page => page.data)
  return (
    <section aria-label={t('orders.history')}>
      <h3 className="size-lead" style={{ marginBottom: '0.4rem' }}>
        {t('orders.history')}
      </h3>
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton height={160} role="status" aria-label={t('orders.history')} />}
      {entries?.length === 0 && <p className="dim">{t('orders.noHistory')}</p>}
      <ol className={`size-body ${classes.timeline}`}>
        {entries?.map(entry => (
          <Entry key={`${entry.source} ${entry.id}`} entry={entry} />
        ))}
      </ol>
      {latest === undefined && hasNextPage && (
        <WorkButton
          variant="default"
          size="compact-sm"
          working={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
          mt="xs"
        >
          {t('orders.earlier')}
        </WorkButton>
      )}
    </section>
  )
}

const FAILED = new Set(['fail', 'task_failed', 'payment_held', 'delivery_refused', 'delivery_waits'])
const isBad = ({ source, kind, detail }: TimelineEntry) =>
  (source === 'order' && FAILED.has(kind)) ||
  (source === 'mail' && detail['state'] === 'failed') ||
  (source === 'proof' && kind.endsWith('.failed'))

function Entry({ entry }: { entry: TimelineEntry }) {
  const t = useT()
  const accountT = useAccountT()
  const language = useLanguage()
  const { mayCall } = useMay()
  const { source, actor, viewed_as } = entry
  const title = titleOf(t, entry)
  const detail = detailOf({ t, accountT, language }, entry)
  return (
    <li data-source={source} data-bad={isBad(entry) || undefined}>
      <div className="row stretch" style={{ gap: '0 0.5rem' }}>
        {source === 'platform' && mayCall(payments.inbox) ? (
          <Link to={`${pageAt('payments')}?open=${entry.id}`}>{title}</Link>
        ) : (
          <strong className="strong">{title}</strong>
        )}
        {actor && (
          <span className="dim">
            {viewed_as ? t('orders.byAs', { name: actor, user: viewed_as }) : t('orders.by', { name: actor })}
          </span>
        )}
      </div>
      {detail && <div className="breaks">{detail}</div>}
      <div className="dim size-label">
        <Moment at={entry.at} ago />
      </div>
      {entry.can_resend && mayCall(mail.sendAgain) && <Resend entry={entry} />}
    </li>
  )
}

function Resend({ entry }: { entry: TimelineEntry }) {
  const t = useT()
  const again = useCommand(mail.sendAgain, {
    confirm: { title: t('mails.sendAgain'), body: t('mails.sendAgainBody', { to: String(entry.detail['to']) }) },
    success: t('mails.sentAgain'),
    invalidate: [orders.timeline, mail.mails]
  })
  return (
    <WorkButton
      variant="default"
      size="compact-sm"
      working={again.running}
      onClick={() => void again.run({ params: { id: entry.id } })}
    >
      {t('mails.sendAgain')}
    </WorkButton>
  )
}
