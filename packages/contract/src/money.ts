// Apart from the shapes, so that a page that only calculates does not bring the validation library.

/** An exact amount as whole cents. The text must be `12`, `12.3` or `12.30`, with an optional sign. */
export function toCents(value: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(value)
  if (!match) throw new RangeError(`not an amount: ${value}`)
  const [, sign, whole = '0', fraction = ''] = match
  const cents = BigInt(whole) * 100n + BigInt(fraction.padEnd(2, '0'))
  return sign === '-' ? -cents : cents
}

/** `1230n` → '12.30'. */
export function fromCents(cents: bigint): string {
  const positive = cents < 0n ? -cents : cents
  const text = `${positive / 100n}.${String(positive % 100n).padStart(2, '0')}`
  return cents < 0n ? `-${text}` : text
}
