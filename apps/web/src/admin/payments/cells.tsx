import type { InboxEntry } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import en from '../../i18n/admin.en.json'
import { useT, type Key } from '../../i18n/admin.ts'
import type { Translate } from '../../i18n/words.ts'
import { moneyIn, withMoney } from '../../kit/money.ts'
import { StateBadge, StateWithDetails } from '../../kit/state-badge.tsx'
import { OrderLink } from '../orders/order-link.tsx'
import { none } from '../../kit/none.tsx'

export function OutcomeBadge({ entry }: { entry: InboxEntry }) {
  const t = useT()
  const { outcome, unresolved, resolution, params, waits_for: waitsFor } = entry
  const disputed = params['reason'] === 'chargeback'
  const tone = unresolved
    ? 'bad'
    : outcome === null
      ? 'wait'
      : disputed
        ? 'wait'
        : outcome === 'settled' || resolution === 'applied'
          ? 'good'
          : 'off'
  return (
    <StateWithDetails>
      <StateBadge tone={tone}>
        {disputed ? t('payments.disputed') : t(outcome ? (`payments.is.${outcome}` as Key) : 'payments.waiting')}
      </StateBadge>
      {resolution && <span className="dim">{t(`payments.by.${resolution}`)}</span>}
      {waitsFor && (
        <span className="dim size-table" style={{ maxWidth: '28rem' }}>
          {waitsFor}
        </span>
      )}
      {unresolved && (
        <span className="dim size-table" style={{ maxWidth: '28rem' }}>
          {attentionWords(t, entry)}
        </span>
      )}
    </StateWithDetails>
  )
}

/** Why it needs attention. Outcomes without a translation show the server's English. */
function attentionWords(
  t: Translate<typeof en>,
  { outcome, params: told, summary, currency }: InboxEntry
): string | null {
  const params = withMoney(told, currency)
  const key = `payments.why.${outcome}`
  if (!(key in en)) return summary
  const state = `orders.is.${params['state']}`
  return t(key as Key, state in en ? { ...params, state: t(state as Key) } : params)
}

/** Links to our order. A deleted or unknown one links to a search for its number. */
export const OrderCell = ({ entry }: { entry: InboxEntry }) =>
  entry.order && entry.order_id ? (
    <OrderLink id={entry.order_id} number={entry.order} />
  ) : entry.order ? (
    <Link className="mono" to={`${pageAt('Orders')}?search=${encodeURIComponent(entry.order)}`}>
      {entry.order}
    </Link>
  ) : (
    none
  )

/** The platform's amount in its currency. */
export const ChargedCell = ({ entry }: { entry: InboxEntry }) =>
  entry.charged === null ? none : <span className="num">{moneyIn(entry.charged, entry.currency)}</span>
