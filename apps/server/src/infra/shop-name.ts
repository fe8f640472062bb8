export const SHOP_NAME = 'Netlet'
