import { money } from './money.ts'

/** A code's discount: '$5.00' or '12.5%'. */
export const discountText = ({
  discount,
  discount_type
}: {
  discount: string
  discount_type: 'amount' | 'percent'
}): string => (discount_type === 'percent' ? `${discount.replace(/\.?0+$/, '')}%` : money(discount))
