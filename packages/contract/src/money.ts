// Apart from the shapes, so that a page that only calculates does not bring the validation library.

/** An exact amount as whole cents. The text must be `12`, `12.3` or `12.30`, with an optional sign. */
export function toCents(value: string): bigint {
  if (!/^-?\d+(?:\.\d{1,2})?$/.test(value)) throw new RangeError(`not an amount: ${value}`)
  const [whole, fraction = ''] = value.split('.')
  return BigInt(`${whole}${fraction.padEnd(2, '0')}`)
}

/** `1230n` → '12.30'. */
export function fromCents(cents: bigint): string {
  const digits = String(cents).replace('-', '').padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
