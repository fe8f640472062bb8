/** An amount within a sentence: '$5.30', or '5.30 EUR'. */
export const moneyText = (amount: string, currency: string): string =>
  currency === 'USD' ? `$${amount}` : `${amount} ${currency}`
