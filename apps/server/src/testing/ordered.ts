/** The plan's columns in a row of `orders`: 8 addresses for 30 days, $2.00 each and $0.50 for its rules. */
export const ORDERED = {
  productName: 'Plan',
  variantName: 'Here',
  quantity: 8,
  cartStep: 8,
  proxyTime: 30,
  variantPrice: '2.00',
  aclPrice: '0.50',
  amount: '20.00',
  proxyPassword: 'secret'
}
