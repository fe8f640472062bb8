// Apart from the shapes, so that a page that only calculates does not bring the validation library.

/** An exact amount as whole cents. The text must be `12`, `12.3` or `12.30`, with an optional sign. */
export function toCents(value: string): bigint {
  if (!/^-?\d+(?:\.\d{1,2})?$/.test(value)) throw new RangeError(`not an amount: ${value}`)
  const [whole, fraction = ''] = value.split('.')
  return BigInt(`${whole}${fraction.padEnd(2, '0')}`)
}

/**
 * What the checkout asks for an order of this amount with a discount off all of it. A percentage is taken of the whole
 * order, and what it takes off is rounded to the cent, half a cent up.
 */
export function discounted(
  amount: string,
  { discount, discount_type }: { discount: string; discount_type: 'amount' | 'percent' }
): string {
  const cents = toCents(amount)
  const value = toCents(discount)
  const off = discount_type === 'percent' ? (cents * value + 5000n) / 10_000n : value
  return fromCents(off < cents ? cents - off : 0n)
}

/** `1230n` → '12.30'. */
export function fromCents(cents: bigint): string {
  const digits = String(cents).replace('-', '').padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
