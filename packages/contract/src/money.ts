// Without schemas, so that pages can calculate without the validation library.

/** An exact amount in cents. The text must be `12`, `12.3` or `12.30`, with an optional sign. */
export function toCents(value: string): bigint {
  if (!/^-?\d+(?:\.\d{1,2})?$/.test(value)) throw new RangeError(`not an amount: ${value}`)
  const [whole, fraction = ''] = value.split('.')
  return BigInt(`${whole}${fraction.padEnd(2, '0')}`)
}

/** 100 %, in hundredths of a percent. */
const WHOLE = 10_000n

/**
 * The checkout's charge after a discount on the whole order. A percentage applies to the total, and the discount is
 * rounded half up to cents, as the platform rounds it.
 */
export function afterDiscount(
  amount: string,
  { discount, discount_type }: { discount: string; discount_type: 'amount' | 'percent' }
): string {
  const cents = toCents(amount)
  const value = toCents(discount)
  const off = discount_type === 'percent' ? (cents * value + WHOLE / 2n) / WHOLE : value
  return fromCents(off < cents ? cents - off : 0n)
}

/** `1230n` → '12.30'. */
export function fromCents(cents: bigint): string {
  const digits = String(cents).replace('-', '').padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
