import { fromCents, toCents } from '@netlet/contract/money'

/** The platform's price with 2 decimals: '5', '5.0' and '5.00' are the same. @throws below a cent: '5.001' */
export const wholeCents = (price: string): string => fromCents(toCents(price.replace(/(\.\d\d)0+$/, '$1')))
