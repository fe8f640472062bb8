import type { Unit } from '../../infra/command.ts'
import { changeBalance, lockBalance } from '../accounts/index.ts'
import { grantPoints, type Grant } from './grant.ts'
import { MILLION } from './whole-points.ts'

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
