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

const formats = new Map<string, Intl.NumberFormat>()

/** Formatters are slow to create, and one page of a list writes a hundred numbers. */
function formatOf(language: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify([language, options])
  const known = formats.get(key)
  if (known) return known
  const made = new Intl.NumberFormat(language, options)
  formats.set(key, made)
  return made
}

/** A number in the same format in every language: 65361 is '65,361'. */
export const numberText = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  formatOf('en-US', options).format(value)

/** A number with its unit in the current language: '1.5 hr', '30 days'. */
export const unitText = (
  value: number,
  language: string,
  options: Intl.NumberFormatOptions & { unit: string }
): string => formatOf(language, { style: 'unit', ...options }).format(value)

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** 1536 is '1.5 kB'. */
export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${numberText(value, { maximumFractionDigits: value < 10 && unit > 0 ? 1 : 0 })} ${UNITS[unit]}`
}

/** A code's discount: '$5.00' or '12.5%'. */
export const discountText = ({
  discount,
  discount_type
}: {
  discount: string
  discount_type: 'amount' | 'percent'
}): string => (discount_type === 'percent' ? `${discount.replace(/\.?0+$/, '')}%` : money(discount))

const DURATIONS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60]
] as const

/** 0.84 is '0.8 sec', 75 is '1.3 min', 5400 is '1.5 hr', 180000 is '2.1 days', in the current language. */
export function durationText(seconds: number, language: string): string {
  // 59.96 seconds would round to '60 sec'; say 1 minute.
  const [unit, length] = DURATIONS.find(([, length]) => seconds >= length * 0.999) ?? (['second', 1] as const)
  return unitText(seconds / length, language, { unit, maximumFractionDigits: 1 })
}
