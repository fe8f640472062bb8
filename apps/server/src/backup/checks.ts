import type { Executor } from '../infra/db/client.ts'
import { audit } from '../domains/inventory/index.ts'
import { compareFigures, wrongBooks } from '../domains/statements/index.ts'

/** What must never differ in a shop, and in how many places it does. */
export type Checks = Record<string, number>

/** Counts what contradicts the invariants of the inventory and of the books. It reads whole tables. */
export async function checkInvariants(db: Executor): Promise<Checks> {
  const { differences, doubleLeased } = await audit(db)
  return {
    'addresses leased twice': doubleLeased,
    'stock rows that differ from the leases': differences,
    'days whose revenue differs from the payments': (await compareFigures(db)).length,
    'balances and payments that differ from their records': (await wrongBooks(db)).length
  }
}
