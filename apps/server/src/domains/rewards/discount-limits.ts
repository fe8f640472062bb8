import { message, toCents, type DiscountType } from '@netlet/contract'
import { formRefusal } from '../../infra/refusals.ts'

/** Refuses more than 100 percent. */
export const tooManyPercent = (discount: string, type: DiscountType) =>
  type === 'percent' && toCents(discount) > 100_00n
    ? formRefusal({ discount: message('must_be_at_most', { max: 100 }) })
    : undefined
