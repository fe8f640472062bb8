import { useT } from '../../i18n/product.ts'
import { money } from '../money.ts'
import { numberText } from '../number.ts'
import { perAddress } from '../per-address.ts'
import type { Pending } from './pending.ts'
import classes from './payment.module.css'

/** What is being paid for. */
export function Facts({ pending: { orderId, bought } }: { pending: Pending }) {
  const t = useT()
  const { product, variant, quantity, rules, amount } = bought
  return (
    <dl className={classes.facts}>
      <dt>{t('pay.product')}</dt>
      <dd>
        <strong>{product}</strong>
        {variant && <span className="dim"> {variant}</span>}
      </dd>
      <dt>{t('pay.quantity')}</dt>
      <dd className="num">{numberText(quantity)}</dd>
      {rules.length > 0 && (
        <>
          <dt>{t('pay.rules')}</dt>
          <dd>{rules.join(', ')}</dd>
        </>
      )}
      <dt>{t('pay.amount')}</dt>
      <dd className="num">
        <strong>{money(amount)}</strong>{' '}
        <span className="dim">{t('pay.perIp', { price: money(perAddress(amount, quantity)) })}</span>
      </dd>
      <dt>{t('pay.order')}</dt>
      <dd className="mono">{orderId}</dd>
    </dl>
  )
}
