import { toCents } from '@netlet/contract/money'

/**
 * What one of so many addresses comes to, in dollars with two decimals: of three decimals the last is cut off, so it is
 * never more than was paid.
 */
export function perAddress(amount: string, addresses: number): string {
  const thousandths = (toCents(amount) * 10n) / BigInt(addresses)
  const text = `${thousandths / 1000n}.${String(thousandths % 1000n).padStart(3, '0')}`
  return text.slice(0, -1)
}
