import { ActionIcon, Button, Skeleton } from '@mantine/core'
import type { Product } from '@netlet/contract'
import { IconLock, IconMinus, IconPlus, IconShieldCheck } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { failureText } from '../../i18n/failures.ts'
import { useT as useShopT } from '../../i18n/index.ts'
import { useNames } from '../../i18n/names.ts'
import { useT } from '../../i18n/product.ts'
import { passFocus } from '../../kit/focus-return.ts'
import { money, numberText } from '../../kit/money.ts'
import { activeVariants, Stock } from '../stock.tsx'
import {
  type Choice,
  findVariant,
  MOST_ADDRESSES,
  type Options,
  pick,
  pickers,
  presets,
  typedNumber,
  wholeSteps
} from './choice.ts'
import classes from './order-box.module.css'
import { Purchase } from './purchase.tsx'
import type { usePurchase } from './use-purchase.ts'

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

type OptionPickerProps = {
  product: Product
  options: Options
  locked: boolean
  onPick: (name: keyof Options, value: string) => void
}

function OptionPicker({ product, options, locked, onPick }: OptionPickerProps) {
  const t = useT()
  const names = useNames()
  const shopT = useShopT()
  const variants = activeVariants(product)
  return pickers(product, variants).map(({ name, label, values }) => (
    <fieldset key={name} className={classes.options} disabled={locked}>
      <legend>{label ? names.word(product, label) : t('product.option')}</legend>
      <div className="row stretch" style={{ gap: '0.5rem' }}>
        {values.map(value => {
          const target = findVariant(variants, pick(variants, options, name, value))
          const soldOut = !target || target.variant_stock < target.cart_step
          return (
            <label key={value} className={classes.value} data-sold-out={soldOut || undefined}>
              <input
                type="radio"
                name={name}
                value={value}
                checked={options[name] === value}
                onChange={() => onPick(name, value)}
              />
              <span>
                {names.word(product, value)}
                {soldOut && <small> {shopT('stock.none')}</small>}
              </span>
            </label>
          )
        })}
      </div>
    </fieldset>
  ))
}

type QuantityProps = { value: number; step: number; most: number; onChange: (quantity: number) => void }

/** A number of addresses in whole steps. `onChange` gets every typed value; the field rounds on blur. */
function Quantity({ value, step, most, onChange }: QuantityProps) {
  const t = useT()
  const [typed, setTyped] = useState<string | null>(null)
  const choose = (quantity: number) => {
    setTyped(null)
    onChange(quantity)
  }
  const type = (text: string) => {
    // Chinese input methods may produce full-width digits.
    const kept = text
      .normalize('NFKC')
      .replaceAll(/[^\d.,]/g, '')
      .slice(0, 9)
    setTyped(kept)
    // Accept more than the stock, because the page explains why it is lowered.
    if (/\d/.test(kept)) onChange(wholeSteps(typedNumber(kept), 1, MOST_ADDRESSES))
  }
  const last = wholeSteps(most, step, most)
  return (
    <div className={`row unwrapped stretch ${classes.quantity}`} style={{ gap: '0.35rem', maxWidth: '100%' }}>
      <ActionIcon
        variant="default"
        size={38}
        aria-label={t('quantity.less')}
        disabled={value <= step}
        onClick={() => choose(value - step)}
      >
        <IconMinus size={16} />
      </ActionIcon>
      <input
        className="num"
        inputMode="numeric"
        aria-labelledby="quantity"
        value={typed ?? String(value)}
        onChange={event => type(event.currentTarget.value)}
        onBlur={() => setTyped(null)}
        onKeyDown={event => {
          if (event.key === 'Enter') setTyped(null)
          if (event.key === 'ArrowUp') choose(wholeSteps(value + step, step, most))
          if (event.key === 'ArrowDown') choose(wholeSteps(value - step, step, most))
        }}
      />
      <ActionIcon
        variant="default"
        size={38}
        aria-label={t('quantity.more')}
        disabled={value >= last}
        onClick={() => choose(value + step)}
      >
        <IconPlus size={16} />
      </ActionIcon>
    </div>
  )
}

/** Buttons for quantities in doubling steps, up to the limit. */
function Presets({ value, step, most, onChange }: QuantityProps) {
  const t = useT()
  const offered = presets(step, most)
  if (offered.length < 2) return null
  return (
    <div className={classes.presets} role="group" aria-label={t('quantity.presets')}>
      {offered.map(quantity => (
        <button key={quantity} type="button" aria-pressed={quantity === value} onClick={() => onChange(quantity)}>
          {numberText(quantity)}
        </button>
      ))}
    </div>
  )
}
