/**
 * `amount × rate` in whole points, rounded down, exactly: '10.10' × 0.3 is 3, and 4.35 × 100 is 435, not 434 as in
 * floating point.
 * @param amount a decimal, never negative: '12.30'
 * @param rate as an administrator wrote it: its shortest decimal counts
 */
export const wholePoints = (amount: string, rate: number): number => product(amount, rate, 1n)

/** Millionths in a coin: exact for cents at a rate of up to four decimals. */
export const MILLION = 1_000_000

/** `amount × rate` in millionths of a coin, in the same way. */
export const coinMillionths = (amount: string, rate: number): number => product(amount, rate, BigInt(MILLION))

function product(amount: string, rate: number, times: bigint): number {
  const [a, aScale] = decimal(amount)
  const [r, rScale] = decimal(String(rate))
  return Number((a * r * times) / 10n ** BigInt(aScale + rScale))
}

/** '1.25' → [125n, 2]; '5e-7' → [5n, 7]. */
function decimal(text: string): [digits: bigint, scale: number] {
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text)
  if (!match) throw new RangeError(`not a decimal: ${text}`)
  const [, whole, fraction = '', exponent = 0] = match
  const scale = fraction.length - Number(exponent)
  return [BigInt(`${whole}${fraction}`) * 10n ** BigInt(Math.max(0, -scale)), Math.max(0, scale)]
}
