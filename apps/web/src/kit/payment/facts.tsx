import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/product.ts'
import { money } from '../money.ts'
import { numberText } from '../number.ts'
import { perAddress } from '../per-address.ts'
import { chargedFor, useLevelWords } from './level-price.tsx'
import type { Pending } from './pending.ts'
import classes from './payment.module.css'

export function Facts({ pending: { orderId, bought } }: { pending: Pending }) {
  const t = useT()
  const { quantity, amount, discount } = bought
  const due = chargedFor(amount, discount)
  const note = useLevelWords().note(amount, discount)
  const { product_name, variant_name, acl_names } = useNames().order(bought)
  return (
    <dl className={classes.facts}>
      <dt>{t('pay.product')}</dt>
      <dd>
        <strong>{product_name}</strong>
        {variant_name && <span className="dim"> {variant_name}</span>}
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
