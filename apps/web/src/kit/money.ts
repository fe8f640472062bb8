/** '1234.5' or '1234.50' → '$1,234.50'. The text is never turned into a binary fraction. */
export function money(amount: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount)
  if (!match) return `$${amount}`
  const [, sign = '', whole = '0', fraction = ''] = match
  return `${sign}$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(2, '0')}`
}

/** An amount as the platform tells it: in dollars as everywhere, in another currency with its code, '1,234.50 EUR'. */
export const moneyIn = (amount: string, currency: string | null): string =>
  currency === null || currency === 'USD' ? money(amount) : `${money(amount).replace('$', '')} ${currency}`

/** What stands in a sentence, with its amounts ('10.77': the wire has no other texts with two decimals) as money. */
export const withMoney = <V extends object>(
  values: V,
  currency: string | null = null
): { [K in keyof V]: V[K] | string } =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'string' && /^-?\d+\.\d\d$/.test(value) ? moneyIn(value, currency) : value
    ])
  ) as { [K in keyof V]: V[K] | string }
