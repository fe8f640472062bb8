/** The shop's name on pages and receipts. */
export const SHOP_NAME = 'Netlet'
