import type { SyncKind, SyncPreview } from '@netlet/contract'
import { versionOf } from '../../infra/version.ts'
import { desc, lte } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { difference, takeSnapshot } from './snapshot.ts'
import { type Touched, catalogSyncs } from './tables.ts'

/** How many syncs are kept. Only the last one can be undone; the others are history. */
const KEPT = 20

/** Runs a sync and records its changes for the undo. A sync without changes leaves no record. */
export async function recordSync(
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

export type SyncCounts = { created: number; updated: number; removed: number }

/** One change that a sync would make, for the preview. `name` is the one that the shop shows. */
export type Change = SyncPreview['changes'][number]

/** Products that join or leave collections or tags: our product ids, and the platform's ids of the others. */
export type Links = { added: Link[]; removed: Link[] }
export type Link = { productId: number; platformId: string }

export type Planned = {
  changes: Change[]
  links: Links
  /** Products whose shown collections or tags change, including by one that is deleted or restored. */
  moved: ReadonlySet<number>
}

/** The most changes in one preview. The counts cover all of them. */
export const MOST_CHANGES = 200
/** The most characters of a text in a preview. */
const SHOWN = 200

export function countChanges(changes: readonly Change[]): SyncCounts {
  const counts: SyncCounts = { created: 0, updated: 0, removed: 0 }
  for (const { kind } of changes) counts[kind]++
  return counts
}

/** A change with its texts cut to the preview's length. */
export function shortened({ fields, ...change }: Change): Change {
  const cut = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)
  return { ...change, fields: fields.map(({ field, was, is }) => ({ field, was: cut(was), is: cut(is) })) }
}

export const presentPlan = ({ changes, moved }: Planned): SyncPreview => ({
  ...countChanges(changes),
  products: moved.size,
  changes: changes.slice(0, MOST_CHANGES).map(shortened)
})

export const versionOfPlan = ({ changes, links }: Planned): string => versionOf({ changes, links })
