import type { Unit } from '../../infra/command.ts'
import { dropUser, upsertDesiredUsers, type WantedUser } from '../servers/index.ts'
import { forgetUnconfirmed, readHeld, recordUnproved, requestReplacedProofs } from '../proofs/index.ts'

/**
 * Sets the desired state of these users; jobs send it to the agents. The previous credentials are checked after the
 * agents have confirmed.
 * @returns orders that lost listed clients, because other orders with the same addresses list them already
 */
export async function setDesiredUsers(unit: Unit, users: WantedUser[]): Promise<number[]> {
  if (users.length === 0) return []
  const held = await readHeld(unit, users)
  const { rows, shortened } = await upsertDesiredUsers(unit, users)
  await requestReplacedProofs(unit, held, rows)
  return shortened
}

/**
 * Drops an order's user on a server that was given up, because its agent will never confirm the removal. The repair
 * that a server passes before it sells again removes what may be left there.
 */
export async function dropDesiredUser(unit: Unit, serverId: number, orderId: number): Promise<void> {
  const gone = await dropUser(unit, serverId, orderId)
  await forgetUnconfirmed(unit, serverId, orderId)
  await recordUnproved(unit, gone, 'given_up')
}
