import { z } from 'zod'
import { CatalogPreview, SYNC_KINDS, SyncPreview } from './products.ts'
import { ReasonParams, Time } from './shapes.ts'

/** `ready`: read and compared; somebody has to look at the plan and apply it, or cancel it. */
export const SYNC_STATES = ['reading', 'ready', 'applying', 'applied', 'failed', 'cancelled'] as const
export type SyncState = (typeof SYNC_STATES)[number]

/** What a sync that goes on is doing. `single`: products that were on no page, asked for one by one. */
export const SYNC_STEPS = ['waiting', 'groupings', 'products', 'single', 'comparing', 'applying'] as const
export type SyncStep = (typeof SYNC_STEPS)[number]

/** Milliseconds for which a plan can be applied: later the platform is read anew. */
export const SYNC_PLAN_MS = 3_600_000

/** A sync with the platform, from its first page to what it changed. */
export const SyncRun = z.object({
  id: z.number(),
  what: z.enum(SYNC_KINDS),
  state: z.enum(SYNC_STATES),
  step: z.enum(SYNC_STEPS),
  /** How much of the step is done, of how much: products, or 0 of null where that is not counted. */
  done: z.number(),
  total: z.number().nullable(),
  /** Who asked for what it does: for the reading, then for the applying. */
  username: z.string(),
  created_at: Time,
  /** When its plan was made. */
  ready_at: Time.nullable(),
  ended_at: Time.nullable(),
  /** What it changed; null before it has. */
  counts: z.object({ created: z.number(), updated: z.number(), removed: z.number() }).nullable(),
  /** Why it failed: a reason of the catalogue with its parameters, and the sentence. */
  reason: z.string().nullable(),
  params: ReasonParams,
  msg: z.string().nullable()
})
export type SyncRun = z.infer<typeof SyncRun>

/** What a sync would do. */
export const SyncPlan = z.union([
  CatalogPreview.extend({ what: z.literal('catalogue') }),
  SyncPreview.extend({ what: z.enum(['collections', 'tags']) })
])
export type SyncPlan = z.infer<typeof SyncPlan>
