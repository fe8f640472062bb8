/** What the shop calls itself, in its pages and on its receipts. */
export const SHOP_NAME = 'Netlet'
