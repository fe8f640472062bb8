import { pageAt } from '@netlet/contract/pages'
/** The orders behind a day's revenue: paid or renewed on that day. */
export const paidOn = (day: string): string => `${pageAt('Orders')}?paid_on=${day}`
