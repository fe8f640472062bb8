import type { InboxEntry } from '@netlet/contract'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { payments } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { moneyIn } from '../../kit/money.ts'
import { ErrorState } from '../../kit/states.tsx'
import { FactList, type Fact, type Tools } from '../kit/index.ts'
import { ChargedCell, OrderCell, OutcomeBadge } from './cells.tsx'
import classes from './payments.module.css'

/** One event beside the list: the lines of the platform's order, and what our order is missing. */
export function PaymentDrawer({ id }: { id: number; row: InboxEntry | undefined; tools: Tools }) {
  const t = useT()
  const { data, error, refetch } = useQuery(read(payments.inboxEntry, { params: { id } }))
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={320} />
  const { entry, lines, needed, email, proposed } = data
  return (
    <div className="stack">
      <Facts entry={entry} email={email} proposed={proposed} />
      <section aria-label={t('payments.lines')}>
        <h3 className="size-body" style={{ marginBottom: '0.4rem' }}>
          {t('payments.lines')}
        </h3>
        {lines.length === 0 && <p className="dim">{t('payments.noLines')}</p>}
        <ul className={`size-body ${classes.lines}`}>
          {lines.map((line, at) => (
            <li key={`${line.variant} ${at}`}>
              <span>{line.title}</span>
              <span className="num">{`${line.quantity} × ${moneyIn(line.price, entry.currency)}`}</span>
            </li>
          ))}
        </ul>
      </section>
      {needed.length > 0 && (
        <section aria-label={t('payments.needed')}>
          <h3 className="size-body" style={{ marginBottom: '0.4rem' }}>
            {t('payments.needed')}
          </h3>
          <ul className={`size-body ${classes.lines}`}>
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

function Facts({ entry, email, proposed }: { entry: InboxEntry; email: string | null; proposed: string | null }) {
  const t = useT()
  const { resolution, resolution_note, resolved_by, payment } = entry
  const ended =
    resolution &&
    t('payments.resolvedBy', {
      resolution: t(`payments.by.${resolution}`),
      by: resolved_by ?? '',
      note: resolution_note ?? '–'
    })
  const facts: Fact[] = [
    [t('payments.outcome'), <OutcomeBadge entry={entry} />],
    [t('payments.platform_order'), entry.platform_order && <span className="mono">{entry.platform_order}</span>],
    [t('payments.order'), <OrderCell entry={entry} />],
    [
      t('payments.proposed'),
      proposed && (
        <>
          <span className="mono">{proposed}</span> <span className="dim">{t('payments.proposedWhy')}</span>
        </>
      )
    ],
    [t('payments.user'), entry.username],
    [t('payments.email'), email],
    [t('payments.charged'), <ChargedCell entry={entry} />],
    [t('payments.state'), payment && t(`payments.now.${payment}`)],
    [
      t('payments.refundedAmount'),
      entry.refunded && entry.refunded !== '0.00' && moneyIn(entry.refunded, entry.currency)
    ],
    [t('payments.topic'), <span className="mono">{entry.topic}</span>],
    [t('payments.resolution'), ended]
  ]
  return <FactList label={t('payments.facts')} facts={facts} />
}
