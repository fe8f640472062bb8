import { pageAt } from '@netlet/contract/pages'
/** The orders that brought the money of a day: paid or renewed on it. */
export const paidOn = (day: string): string => `${pageAt('Orders')}?paid_on=${day}`
