import { desc, lte } from 'drizzle-orm'
import type { SyncKind } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import { difference, takeSnapshot } from './snapshot.ts'
import type { SyncCounts } from './plan-sync.ts'
import { catalogSyncs, type Touched } from './tables.ts'

/** How many syncs are kept. Only the last one can be undone; the others are history. */
const KEPT = 20

/** Runs a sync and records its changes for the undo. A sync without changes leaves no record. */
export async function recorded(
  unit: Unit,
  { what, counts }: { what: SyncKind; counts: SyncCounts },
  work: () => Promise<unknown>
): Promise<void> {
  const before = await takeSnapshot(unit.tx)
  await work()
  await writeSync(unit, { what, counts, touched: difference(before, await takeSnapshot(unit.tx)) })
}

export async function writeSync(
  unit: Unit,
  { what, counts, touched }: { what: SyncKind; counts: SyncCounts; touched: Touched[] }
): Promise<void> {
  if (touched.length === 0) return
  const by = unit.by.kind === 'user' ? unit.by.username : ''
  await unit.tx.insert(catalogSyncs).values({ what, by, counts, touched, createdAt: unit.now })
  const [last] = await unit.tx
    .select({ id: catalogSyncs.id })
    .from(catalogSyncs)
    .orderBy(desc(catalogSyncs.id))
    .limit(1)
    .offset(KEPT)
  if (last) await unit.tx.delete(catalogSyncs).where(lte(catalogSyncs.id, last.id))
}
