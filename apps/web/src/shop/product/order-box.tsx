import type { Product } from '@netlet/contract'
import { Button, Skeleton } from '@mantine/core'
import { IconLock, IconShieldCheck } from '@tabler/icons-react'
import { useRef } from 'react'
import { useT as useShopT } from '../../i18n/index.ts'
import { failureText } from '../../i18n/failures.ts'
import { useT } from '../../i18n/product.ts'
import { useNames } from '../../i18n/names.ts'
import { passFocus } from '../../kit/focus-return.ts'
import { money } from '../../kit/money.ts'
import { numberText } from '../../kit/number.ts'
import { Stock } from '../stock.tsx'
import { OptionPicker } from './option-picker.tsx'
import { Presets, Quantity } from './quantity.tsx'
import { Purchase } from './purchase.tsx'
import type { Choice } from './use-choice.ts'
import type { usePurchase } from './use-purchase.ts'
import classes from './order-box.module.css'

type Props = {
  product: Product
  choice: Choice
  purchase: ReturnType<typeof usePurchase>
  /** On a phone the total and the button are at the bottom of the window. */
  withoutTotal: boolean
  onSelectRules: () => void
}

/** The order form: options, access rules, quantity, price. */
export function OrderBox({ product, choice, purchase, withoutTotal, onSelectRules }: Props) {
  const t = useT()
  const names = useNames()
  const { variant, options, info, rules, quantity, wanted, stock, most, isSoldOut } = choice
  const price = info?.price ?? variant.variant_price
  const select = useRef<HTMLButtonElement>(null)

  return (
    <section className={`card ${classes.box}`} aria-label={t('order.title')}>
      <OptionPicker product={product} options={options} locked={rules.length > 0} onPick={choice.pickOption} />
      {variant.variant_desc && !Object.values(options).includes(variant.variant_desc) && (
        <p className="dim">{names.word(product, variant.variant_desc)}</p>
      )}

      <div className={`row between ${classes.line}`} style={{ gap: '0.75rem 1rem' }}>
        <div>
          <h2>{t('acl.title')}</h2>
          <p className="dim">{rules.length > 0 ? t('acl.chosen', { count: rules.length }) : t('acl.hint')}</p>
        </div>
        <Button
          ref={select}
          variant="default"
          leftSection={<IconShieldCheck size={18} aria-hidden />}
          disabled={isSoldOut}
          onClick={onSelectRules}
        >
          {rules.length > 0 ? t('acl.edit') : t('acl.select')}
        </Button>
      </div>
      {rules.length > 0 && (
        <ChosenRules
          choice={choice}
          onUnlock={() => {
            passFocus(select.current)
            choice.unlock()
          }}
        />
      )}
      {choice.wereRefused && (
        <p role="status" className="caution size-body">
          {t('acl.gone')}
        </p>
      )}

      <div className={`row between ${classes.line}`} style={{ gap: '0.75rem 1rem' }}>
        <div>
          <h2 id="quantity">{t('quantity.title')}</h2>
          <p className="dim">{t('quantity.step', { step: variant.cart_step })}</p>
        </div>
        <Quantity value={quantity} step={variant.cart_step} most={most} onChange={choice.setQuantity} />
        <Presets value={quantity} step={variant.cart_step} most={most} onChange={choice.setQuantity} />
      </div>
      {wanted > most && most >= variant.cart_step && (
        <p role="status" className="caution size-body">
          {most < stock
            ? t('order.loweredLimit', { wanted: numberText(wanted), most: numberText(most) })
            : t(info ? 'order.lowered' : 'order.loweredPlan', { wanted: numberText(wanted), stock: numberText(stock) })}
        </p>
      )}

      <dl className={classes.sums}>
        <div>
          <dt>{t('product.stock')}</dt>
          <dd>
            <Stock count={stock} />
          </dd>
        </div>
        <div>
          <dt>{t('order.perIp')}</dt>
          <dd className="num">
            {money(price)}
            {info && (
              <span className="dim">
                {' '}
                ({money(info.base_price)} + {money(info.acl_price)})
              </span>
            )}
          </dd>
        </div>
      </dl>
      {!withoutTotal && <Purchase product={product} choice={choice} purchase={purchase} />}
      <p className="dim size-table">{t('order.final')}</p>
    </section>
  )
}

/** The confirmed rules with prices. The options are locked while there are any. */
function ChosenRules({ choice, onUnlock }: { choice: Choice; onUnlock: () => void }) {
  const t = useT()
  const names = useNames()
  const shopT = useShopT()
  const { rules, offered, check } = choice
  return (
    <div className={classes.chosen}>
      <ul aria-label={t('acl.chips')}>
        {rules.map(id => {
          const rule = offered?.find(one => one.acl_id === id)
          return (
            <li key={id}>
              {rule ? (
                <>
                  {names.rule(rule)} <span className="num">+{money(rule.price)}</span>
                </>
              ) : (
                <Skeleton height={14} width={80} />
              )}
            </li>
          )
        })}
      </ul>
      {check.error && !check.data ? (
        <div className={classes.locked} role="alert">
          <span>{failureText(check.error)}</span>
          <button type="button" onClick={() => void check.refetch()}>
            {shopT('retry')}
          </button>
        </div>
      ) : (
        <div className={classes.locked}>
          <IconLock size={16} aria-hidden />
          <span>{choice.info ? t('acl.locked') : t('acl.checking')}</span>
          <button type="button" onClick={onUnlock}>
            {t('acl.change')}
          </button>
        </div>
      )}
    </div>
  )
}
