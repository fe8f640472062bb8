import type { InboxEntry } from '@netlet/contract'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { read } from '../../api/query.ts'
import { payments } from '../../api/routes.ts'
import { useT, type Key } from '../../i18n/admin.ts'
import { ErrorState } from '../../kit/states.tsx'
import type { Tools } from '../kit/index.ts'
import { ChargedCell, OrderCell, OutcomeBadge } from './cells.tsx'
import classes from './payments.module.css'

/** One event beside the list: the lines of the platform's order, and what of them our order lacks. */
export function PaymentDrawer({ id }: { id: number; row: InboxEntry | undefined; tools: Tools }) {
  const t = useT()
  const { data, error, refetch } = useQuery(read(payments.inboxEntry, { params: { id } }))
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={320} />
  const { entry, lines, needed, email } = data
  return (
    <div className="stack">
      <Facts entry={entry} email={email} />
      <section aria-label={t('payments.lines')}>
        <h3 className={classes.heading}>{t('payments.lines')}</h3>
        {lines.length === 0 && <p className="dim">{t('payments.noLines')}</p>}
        <ul className={classes.lines}>
          {lines.map((line, at) => (
            <li key={`${line.variant} ${at}`}>
              <span>{line.title}</span>
              <span className="num">{`${line.quantity} × ${line.price}`}</span>
            </li>
          ))}
        </ul>
      </section>
      {needed.length > 0 && (
        <section aria-label={t('payments.needed')}>
          <h3 className={classes.heading}>{t('payments.needed')}</h3>
          <ul className={classes.lines}>
            {needed.map((line, at) => (
              <li key={`${line.name} ${at}`} data-short={line.paid < line.quantity}>
                <span>{line.name}</span>
                <span className="num">{t('payments.short', { paid: line.paid, quantity: line.quantity })}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

function Facts({ entry, email }: { entry: InboxEntry; email: string | null }) {
  const t = useT()
  const { resolution, resolution_note, resolved_by, payment } = entry
  const ended =
    resolution &&
    t('payments.resolvedBy', {
      resolution: t(`payments.by.${resolution}`),
      by: resolved_by ?? '',
      note: resolution_note ?? '–'
    })
  const facts: [Key, ReactNode][] = [
    ['payments.outcome', <OutcomeBadge entry={entry} />],
    ['payments.platform_order', entry.platform_order && <span className="mono">{entry.platform_order}</span>],
    ['payments.order', <OrderCell entry={entry} />],
    ['payments.user', entry.username],
    ['payments.email', email],
    ['payments.charged', <ChargedCell entry={entry} />],
    ['payments.state', payment && t(`payments.now.${payment}`)],
    ['payments.refundedAmount', entry.refunded !== '0.00' && entry.refunded],
    ['payments.topic', <span className="mono">{entry.topic}</span>],
    ['payments.resolution', ended]
  ]
  return (
    <dl className={classes.facts} aria-label={t('payments.facts')}>
      {facts.map(
        ([key, value]) =>
          value && (
            <div key={key}>
              <dt>{t(key)}</dt>
              <dd>{value}</dd>
            </div>
          )
      )}
    </dl>
  )
}
