import { randomUUID } from 'node:crypto'
import type { Unit } from '../../infra/command.ts'
import { lockUser } from '../accounts/index.ts'
import { grantPoints } from './grant.ts'

/** Sets a user's coins, with a record of the difference. */
export async function setCoins(unit: Unit, userId: number, coins: number): Promise<void> {
  const user = await lockUser(unit.tx, userId)
  if (!user) return
  await grantPoints(unit, {
    userId,
    kind: 'coins',
    point: coins - user.coins,
    reason: 'set_by_admin',
    cause: `admin:${randomUUID()}`
  })
}
