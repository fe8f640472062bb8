import { randomUUID } from 'node:crypto'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { AccountPorts } from '../accounts/index.ts'
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

/** Changes a user's coins or level points by an amount that an administrator names. The user's row is locked. */
export async function changePoints(
  unit: Unit,
  userId: number,
  { kind, by }: { kind: 'coins' | 'level'; by: number }
): Promise<void> {
  await grantPoints(unit, { userId, kind, point: by, reason: 'set_by_admin', cause: `admin:${randomUUID()}` })
}
