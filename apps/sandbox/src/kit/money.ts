/** '12.3' → 1230 cents. Throws if the text is not an amount with at most 2 decimals. */
export function toCents(amount: string): number {
  const match = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(amount)
  if (!match) throw new RangeError(`Not an amount of money: ${amount}`)
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'))
}

/** 1234 → '12.34' */
export function toMoney(cents: number): string {
  const size = Math.abs(cents)
  return `${cents < 0 ? '-' : ''}${Math.trunc(size / 100)}.${String(size % 100).padStart(2, '0')}`
}
