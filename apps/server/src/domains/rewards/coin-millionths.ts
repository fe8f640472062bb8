import type { Unit } from '../../infra/command.ts'
import { changeBalance, lockBalance } from '../accounts/index.ts'
import { grantPoints, type Grant } from './grant.ts'
import { MILLION } from './whole-points.ts'

/**
 * Adds what a payment earned to the millionths that its earner has, and pays out the coins which that makes. Once for its cause.
 * So the coins of any payments that stand are the whole part of all that they earned, in whatever order they came and went.
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
 * Takes what a payment had earned from its earner's millionths, a coin of which is broken where they do not suffice.
 * @returns how many coins the caller has to take
 */
export async function takeMillionths(unit: Unit, userId: number, millionths: number): Promise<number> {
  const { coins, rest } = await wholeCoins(unit, userId, -millionths)
  await changeBalance(unit, userId, { coinMillionths: rest })
  return -coins
}

/** How many coins more or fewer a change of a user's millionths makes, and by how many its rest changes. Locks the user. */
async function wholeCoins({ tx }: Unit, userId: number, change: number): Promise<{ coins: number; rest: number }> {
  const had = (await lockBalance(tx, userId))?.coinMillionths ?? 0
  const coins = Math.floor((had + change) / MILLION)
  return { coins, rest: change - coins * MILLION }
}
