/**
 * `amount × rate` in whole points, rounded down, exactly: '10.10' × 0.3 is 3, and 4.35 × 100 is 435, not 434 as in
 * floating point.
 * @param amount a decimal, never negative: '12.30'
 * @param rate as an administrator wrote it: its shortest decimal counts
 */
import type { Unit } from '../../infra/command.ts'
import { changeBalance, lockBalance } from '../accounts/index.ts'
import { type Grant, grantPoints } from './grant.ts'

/**
 * Adds a payment's coins, once for its cause. Fractions add up in the user's millionths, which pay out whole coins. So
 * all payments together earn the whole part of their sum, in any order.
 */
export async function grantCoins(
  unit: Unit,
  { millionths, ...earned }: Omit<Grant, 'kind' | 'point' | 'nominal'> & { millionths: number }
): Promise<void> {
  const { coins, rest } = await wholeCoins(unit, earned.userId, millionths)
  const isNew = await grantPoints(unit, { ...earned, kind: 'coins', point: coins, nominal: millionths })
  if (isNew) await changeBalance(unit, earned.userId, { coinMillionths: rest })
}

/**
 * Takes a payment's millionths back. If the user's rest does not suffice, it breaks a coin.
 * @returns how many coins the caller has to take
 */
export async function takeMillionths(unit: Unit, userId: number, millionths: number): Promise<number> {
  const { coins, rest } = await wholeCoins(unit, userId, -millionths)
  await changeBalance(unit, userId, { coinMillionths: rest })
  return -coins
}

/** The change of a user's whole coins, and of the rest, for a change in millionths. Locks the user. */
async function wholeCoins({ tx }: Unit, userId: number, change: number): Promise<{ coins: number; rest: number }> {
  const had = (await lockBalance(tx, userId))?.coinMillionths ?? 0
  const coins = Math.floor((had + change) / MILLION)
  return { coins, rest: change - coins * MILLION }
}

export const wholePoints = (amount: string, rate: number): number => product(amount, rate, 1n)

/** Millionths in a coin: exact for cents at a rate of up to four decimals. */
const MILLION = 1_000_000

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
