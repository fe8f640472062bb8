import { randomUUID } from 'node:crypto'
import type { Unit } from '../../infra/command.ts'
import { grantPoints } from './grant.ts'
import { takeCoins } from './take-coins.ts'

/**
 * Changes a user's coins or level points at an administrator's request. Spendable coins go before pending ones. The
 * caller has locked the user and checked that the balance suffices.
 */
export async function changePoints(
  unit: Unit,
  userId: number,
  { kind, by }: { kind: 'coins' | 'level'; by: number }
): Promise<void> {
  const change = { userId, reason: 'set_by_admin', cause: `admin:${randomUUID()}` } as const
  if (kind === 'coins' && by < 0) await takeCoins(unit, { ...change, point: -by })
  else await grantPoints(unit, { ...change, kind, point: by })
}
