import type { Product } from '@netlet/contract'
import { useT as useShopT } from '../../i18n/index.ts'
import { useT } from '../../i18n/product.ts'
import { useNames } from '../../i18n/names.ts'
import { activeVariants } from '../product-facts.ts'
import { findVariant, pick, pickers, type Options } from './choice.ts'
import classes from './option-picker.module.css'

type Props = {
  product: Product
  options: Options
  locked: boolean
  onPick: (name: keyof Options, value: string) => void
}

export function OptionPicker({ product, options, locked, onPick }: Props) {
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
