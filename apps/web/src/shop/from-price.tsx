import type { Product } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { useT } from '../i18n/index.ts'
import { money } from '../kit/money.ts'
import { activeVariants } from './stock.tsx'

/** The lowest of these prices; null without one. */
export function lowest(prices: readonly (string | null)[]): string | null {
  const cents = prices.flatMap(price => (price === null ? [] : [toCents(price)]))
  return cents.length > 0 ? fromCents(cents.reduce((low, price) => (price < low ? price : low))) : null
}

/** The lowest price of one address of any of its plans; null if none can be bought now. */
export const fromOf = (product: Product) => lowest(activeVariants(product).map(({ from_price }) => from_price))

type Props = {
  /** The lowest price of one address with an access rule, which every order needs; null if none can be bought. */
  price: string | null
  /** The lowest price without rules, shown if none can be bought. */
  base: string
  /** The price includes the rules that the visitor chose. */
  withChosen?: boolean
}

export function FromPrice({ price, base, withChosen = false }: Props) {
  const t = useT()
  return (
    <>
      <strong>{money(price ?? base)}</strong>{' '}
      <span className="dim">
        {t(price === null ? 'product.perIp' : withChosen ? 'product.perIpChosen' : 'product.perIpRule')}
      </span>
    </>
  )
}
