import { randomUUID } from 'node:crypto'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lockUser, type AccountPorts } from '../accounts/index.ts'
import { readSettings } from '../settings/index.ts'
import { grantPoints } from './grant.ts'

/** Gives whoever invited a new user the level points of the settings. */
export async function grantForSignUp(
  { secrets }: Pick<AppContext, 'secrets'>,
  unit: Unit,
  { userId, inviterId, username }: Parameters<AccountPorts['onSignedUp']>[1]
): Promise<void> {
  if (inviterId === null) return
  const settings = await readSettings(unit.tx, secrets)
  await grantPoints(unit, {
    userId: inviterId,
    kind: 'level',
    point: settings.invite_level_points_per_user,
    reason: 'invited',
    params: { username },
    cause: `invite:${userId}`
  })
}

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
