import type { SyncPreview } from '@netlet/contract'
import { versionOf } from '../../infra/version.ts'

export type SyncCounts = { created: number; updated: number; removed: number }

/** What a sync would do to collections or tags, as people read it. `name` is the one that the shop shows. */
export type Change = SyncPreview['changes'][number]

/** Products that would come to be in a collection or carry a tag, or would not any more: ids of products, platform's ids of the others. */
export type Links = { added: Link[]; removed: Link[] }
export type Link = { productId: number; platformId: string }

export type Planned = {
  changes: Change[]
  links: Links
  /** Products that will show other collections or tags, also by one that goes or comes back. */
  moved: ReadonlySet<number>
}

/** Changes that one preview lists at most; the counts are of all. */
export const LISTED = 200
/** Characters of a text that a preview shows. */
const SHOWN = 200

export function countChanges(changes: readonly Change[]): SyncCounts {
  const counts: SyncCounts = { created: 0, updated: 0, removed: 0 }
  for (const { kind } of changes) counts[kind]++
  return counts
}

/** A change whose texts are as long as a preview shows them. */
export function shortened({ fields, ...change }: Change): Change {
  const cut = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)
  return { ...change, fields: fields.map(({ field, was, is }) => ({ field, was: cut(was), is: cut(is) })) }
}

/** A plan as the console shows it. */
export const presentPlan = ({ changes, moved }: Planned): SyncPreview => ({
  ...countChanges(changes),
  products: moved.size,
  changes: changes.slice(0, LISTED).map(shortened)
})

/** What tells two plans apart. */
export const versionOfPlan = ({ changes, links }: Planned): string => versionOf({ changes, links })
