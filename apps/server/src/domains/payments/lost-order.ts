import type { PaidOrder } from '../../integrations/shopify/index.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { type OrderRow, placeLostOrder } from '../orders/index.ts'
import { readRestored } from '../settings/index.ts'
import type { Settling } from './apply.ts'
import { isUnpaid } from './paid-order.ts'

/** The clocks of the platform and of the shop may differ by so much. */
const CLOCKS = 5 * MINUTE

/**
 * Places the order that a payment names again, if a restore may have lost it: it was paid since the backup, and at most
 * a day after the restore, because a checkout that was open then may still be paid.
 */
export async function findLostOrder(
  unit: Unit,
  { secrets }: Settling,
  paid: PaidOrder,
  publicId: string
): Promise<OrderRow | undefined> {
  if (isUnpaid(paid) || !/^NL-[a-z2-9]{16}$/.test(publicId)) return undefined
  const restored = await readRestored(unit.tx)
  const at = Date.parse(paid.created_at ?? '')
  const isLost = restored && at > restored.backupAt.getTime() - CLOCKS && at < restored.restoredAt.getTime() + DAY
  const email = paid.email ?? paid.contact_email ?? paid.customer?.email
  if (!isLost || !email) return undefined
  const lines = paid.line_items.flatMap(({ variant_id, quantity, current_quantity }) =>
    variant_id && (current_quantity ?? quantity) > 0
      ? [{ variant: variant_id, quantity: current_quantity ?? quantity }]
      : []
  )
  return placeLostOrder(unit, secrets, { publicId, email, lines, held: restored.held ?? {} })
}
