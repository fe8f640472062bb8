import type { UncountedPayment } from '@netlet/contract'
import { useT } from '../../i18n/receipts.ts'
import { moneyIn } from '../../kit/money.ts'
import { Day } from '../../kit/time.tsx'
import classes from './receipts.module.css'

/** Payments that do not count. They have no receipt, but the customer sees where the money is. */
export function Uncounted({ payments }: { payments: UncountedPayment[] }) {
  const t = useT()
  if (payments.length === 0) return null
  return (
    <section className={`card ${classes.uncounted}`} aria-label={t('uncounted')}>
      <h2>{t('uncounted')}</h2>
      <ul>
        {payments.map(payment => (
          <li key={payment.id}>
            <span>
              <strong className="mono">{payment.platform_order}</strong> {t(payment.kind)}, <Day at={payment.paid_at} />
            </span>
            <strong className="num">{moneyIn(payment.total, payment.currency)}</strong>
            <span className="dim">{t(`uncounted.${payment.state}`)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
