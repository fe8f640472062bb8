import { z } from 'zod'
import { CatalogPreview, SYNC_KINDS, SyncPreview } from './products.ts'
import { ReasonParams, Time } from './shapes.ts'

/** `ready`: read and compared; an operator must apply or cancel the plan. */
export const SYNC_STATES = ['reading', 'ready', 'applying', 'applied', 'failed', 'cancelled'] as const
export type SyncState = (typeof SYNC_STATES)[number]

/** The step of a running sync. `single`: products missing from all pages, requested one by one. */
export const SYNC_STEPS = ['waiting', 'groupings', 'products', 'single', 'comparing', 'applying'] as const
export type SyncStep = (typeof SYNC_STEPS)[number]

/** Milliseconds for which a plan can be applied; afterwards the platform must be read again. */
export const SYNC_PLAN_MS = 3_600_000

/** A sync with the platform, from the first page to its changes. */
export const SyncRun = z.object({
  id: z.number(),
  what: z.enum(SYNC_KINDS),
  state: z.enum(SYNC_STATES),
  step: z.enum(SYNC_STEPS),
  /** Progress of the step in products; `done` 0 and `total` null if it is not counted. */
  done: z.number(),
  total: z.number().nullable(),
  /** Who started the reading, then who applied it. */
  username: z.string(),
  created_at: Time,
  /** When its plan was ready. */
  ready_at: Time.nullable(),
  ended_at: Time.nullable(),
  /** What it changed; null before that. */
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
