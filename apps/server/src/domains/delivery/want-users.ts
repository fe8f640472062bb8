import type { Unit } from '../../infra/command.ts'
import { setDesiredUsers } from '../fleet/index.ts'
import { emitOrderEvent, type OrderRow } from '../orders/index.ts'

/** Wants a locked order's users on these agents. If that costs it listed clients, its webhooks are informed. */
export async function wantUsers(
  unit: Unit,
  order: OrderRow,
  users: Parameters<typeof setDesiredUsers>[1]
): Promise<void> {
  const shortened = await setDesiredUsers(unit, users)
  if (shortened.length > 0) await emitOrderEvent(unit, 'credentials.changed', order, { changed: 'client_access' })
}
