import type { Product } from '@netlet/contract'
import { Button } from '@mantine/core'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/product.ts'
import { money, numberText } from '../../kit/money.ts'
import { expectedCharge, useLevelDiscount, useLevelWords } from '../../kit/level-price.tsx'
import { activeVariants } from '../stock.tsx'
import { type Choice, total } from './choice.ts'
import { shortRules, type usePurchase } from './use-purchase.ts'
import classes from './purchase.module.css'

type Props = { product: Product; choice: Choice; purchase: ReturnType<typeof usePurchase> }

/** The total with the order button, or why it cannot be ordered. */
export function Purchase({ product, choice, purchase }: Props) {
  const t = useT()
  const names = useNames()
  const { variant, info, rules, quantity, stock, limit, isSoldOut, check } = choice
  const price = info?.price ?? variant.variant_price
  const discount = useLevelDiscount()
  const amount = total(price, quantity)
  const note = useLevelWords().note(amount, discount)
  const isShort = stock < variant.cart_step
  // The shop's limit is below one step, so this plan cannot be ordered.
  const isOverLimit = limit < variant.cart_step
  const isPriced = rules.length === 0 || info !== null
  const hasOther = activeVariants(product).some(other => other.variant_stock >= other.cart_step)
  const short = (choice.offered ?? []).filter(one => rules.includes(one.acl_id) && one.stock < variant.cart_step)
  const reason = isSoldOut
    ? t(hasOther ? 'order.noneOfChoice' : 'order.noneOfPlan')
    : isShort
      ? short.length > 0
        ? t('order.short', { rules: shortRules(t, short, names) })
        : t('acl.notTogether')
      : isOverLimit
        ? t('order.overLimit', { most: numberText(limit), step: variant.cart_step })
        : null
  return (
    <div className={classes.purchase}>
      <p className={classes.total}>
        <span className={classes.totalName}>{t('order.total')}</span>
        <strong className={`num ${classes.sum}`} aria-live="polite">
          {money(expectedCharge(amount, discount))}
        </strong>
        <span className={`num dim ${classes.parts}`}>
          {t(info ? 'order.equals' : 'order.plusRules', { count: numberText(quantity), price: money(price) })}
        </span>
        {note && <span className={`num dim ${classes.parts}`}>{note}</span>}
      </p>
      <div className={classes.order}>
        <Button
          size="md"
          fullWidth
          disabled={isShort || isOverLimit}
          aria-describedby={isShort ? 'out-of-stock' : isOverLimit ? 'over-limit' : undefined}
          loading={purchase.pending || (!isPriced && check.isFetching)}
          onClick={purchase.start}
        >
          {t('purchase')}
        </Button>
        {isShort && (
          <p id="out-of-stock" className={classes.none}>
            <strong>{t('order.outOfStock')}</strong>
          </p>
        )}
      </div>
      {reason && (
        <p id={isOverLimit ? 'over-limit' : undefined} className="dim size-table">
          {reason}
        </p>
      )}
      {purchase.problem && (
        <p role="alert" className="problem">
          {purchase.problem}
        </p>
      )}
    </div>
  )
}
