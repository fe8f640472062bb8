import { sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'

export type InventoryAudit = {
  /** Rows that differ from what the live lease blocks say. */
  differences: number
  /** (unit, rule) pairs that two live blocks hold, counted without the derived rows. */
  doubleLeased: number
}

/** Recomputes everything derived from the leases. Both figures must be 0. Takes about 1 s for a million addresses. */
export async function audit(db: Executor): Promise<InventoryAudit> {
  const { rows } = await db.execute<{ differences: number; doubleLeased: number }>(
    sql`select inventory.differences() as differences, inventory.double_leased() as "doubleLeased"`
  )
  if (!rows[0]) throw new Error('the audit gave no answer')
  return rows[0]
}
