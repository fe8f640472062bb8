import type { LevelDiscount } from '@netlet/contract'
import { afterDiscount } from '@netlet/contract/money'
import { useQuery } from '@tanstack/react-query'
import { read } from '../api/query.ts'
import { rewards } from '../api/routes.ts'
import { useSession } from '../api/session.ts'
import { useLevelNames } from '../i18n/names.ts'
import { useT } from '../i18n/product.ts'
import { discountText, money } from './money.ts'

/** The signed-in customer's level discount at the checkout; null if there is none or it is not loaded. */
export function useLevelDiscount(): LevelDiscount | null {
  const { user } = useSession()
  const { data } = useQuery({ ...read(rewards.levelDiscount), enabled: user !== null && user.level > 0 })
  return (user && data) ?? null
}

/** What the checkout will charge after the level's discount. A promo code that is typed there lowers it further. */
export const expectedCharge = (amount: string, discount: LevelDiscount | null | undefined): string =>
  discount ? afterDiscount(amount, discount) : amount

/** Explains a price: 'Gold discount: 3% off $2.55'. Empty without a discount. */
export function useLevelWords() {
  const t = useT()
  const { nameOf } = useLevelNames()
  const named = ({ level, ...discount }: LevelDiscount) => ({ level: nameOf(level), off: discountText(discount) })
  const note = (amount: string, discount: LevelDiscount | null | undefined): string =>
    discount ? t('level.with', { ...named(discount), amount: money(amount) }) : ''
  return {
    named,
    note,
    /** For a narrow column: 'Gold −3%'. */
    short: (discount: LevelDiscount): string => t('level.short', named(discount)),
    /** The price that is charged and its note, for a sentence. */
    sentence: (amount: string, discount: LevelDiscount | null | undefined): string => {
      const price = money(expectedCharge(amount, discount))
      return discount ? t('level.sentence', { price, note: note(amount, discount) }) : price
    }
  }
}
