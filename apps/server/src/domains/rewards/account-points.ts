import { randomUUID } from 'node:crypto'
import type { Unit } from '../../infra/command.ts'
import { grantPoints } from './grant.ts'

/** Changes a user's coins or level points by an amount that an administrator names. The user's row is locked. */
export async function changePoints(
  unit: Unit,
  userId: number,
  { kind, by }: { kind: 'coins' | 'level'; by: number }
): Promise<void> {
  await grantPoints(unit, { userId, kind, point: by, reason: 'set_by_admin', cause: `admin:${randomUUID()}` })
}
