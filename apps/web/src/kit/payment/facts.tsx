import { toCents } from '@netlet/contract/money'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/product.ts'
import { money, numberText } from '../money.ts'
import { expectedCharge, useLevelWords } from '../level-price.tsx'
import type { Pending } from './pending.ts'
import classes from './payment.module.css'

/** The price of one address in dollars, cut (not rounded) to two decimals, so that it never exceeds what was paid. */
export function perAddress(amount: string, addresses: number): string {
  const thousandths = (toCents(amount) * 10n) / BigInt(addresses)
  const text = `${thousandths / 1000n}.${String(thousandths % 1000n).padStart(3, '0')}`
  return text.slice(0, -1)
}

export function Facts({ pending: { orderId, bought } }: { pending: Pending }) {
  const t = useT()
  const { quantity, amount, discount } = bought
  const due = expectedCharge(amount, discount)
  const note = useLevelWords().note(amount, discount)
  const { product_name, variant_name, acl_names } = useNames().order(bought)
  return (
    <dl className={classes.facts}>
      <dt>{t('pay.product')}</dt>
      <dd>
        <strong>{product_name}</strong>
        {variant_name && variant_name !== product_name && <span className="dim"> {variant_name}</span>}
      </dd>
      <dt>{t('pay.quantity')}</dt>
      <dd className="num">{numberText(quantity)}</dd>
      {acl_names.length > 0 && (
        <>
          <dt>{t('pay.rules')}</dt>
          <dd>{acl_names.join(', ')}</dd>
        </>
      )}
      <dt>{t('pay.amount')}</dt>
      <dd className="num">
        <strong>{money(due)}</strong>{' '}
        <span className="dim">{t('pay.perIp', { price: money(perAddress(due, quantity)) })}</span>
        {note && <div className="dim">{note}</div>}
      </dd>
      <dt>{t('pay.order')}</dt>
      <dd className="mono">{orderId}</dd>
    </dl>
  )
}
