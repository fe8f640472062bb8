/** '1234.5' or '1234.50' → '$1,234.50'. Never converts to a float. */
export function money(amount: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount)
  if (!match) return `$${amount}`
  const [, sign = '', whole = '0', fraction = ''] = match
  return `${sign}$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction.padEnd(2, '0')}`
}

/** An amount from the platform: dollars as usual, another currency with its code, '1,234.50 EUR'. */
export const moneyIn = (amount: string, currency: string | null): string =>
  currency === null || currency === 'USD' ? money(amount) : `${money(amount).replace('$', '')} ${currency}`

/** Formats the amounts among a sentence's values ('10.77': only amounts have two decimals) as money. */
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
