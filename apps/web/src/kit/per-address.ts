import { toCents } from '@netlet/contract/money'

/** The price of one address in dollars, cut (not rounded) to two decimals, so that it never exceeds what was paid. */
export function perAddress(amount: string, addresses: number): string {
  const thousandths = (toCents(amount) * 10n) / BigInt(addresses)
  const text = `${thousandths / 1000n}.${String(thousandths % 1000n).padStart(3, '0')}`
  return text.slice(0, -1)
}
