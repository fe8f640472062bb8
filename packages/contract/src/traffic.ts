import { z } from 'zod'
import { Time } from './shapes.ts'

/** The steps of a chart. Hours are kept for 30 days, days (UTC) for two years. */
export const TRAFFIC_STEPS = ['hour', 'day'] as const
export type TrafficStep = (typeof TRAFFIC_STEPS)[number]
/** Largest number of steps in a reply. */
export const MOST_STEPS = { hour: 720, day: 731 } as const

/** The last hours or days, including the current one. */
export const TrafficQuery = z
  .object({
    by: z.enum(TRAFFIC_STEPS).default('hour'),
    last: z.coerce.number().int().min(1).max(MOST_STEPS.day).default(48)
  })
  .transform(({ by, last }) => ({ by, last: Math.min(last, MOST_STEPS[by]) }))

/** `up` and `down` are bytes as the proxy client sees them; `refused` and `failed` are parts of `requests`. */
const TrafficSums = z.object({
  up: z.number(),
  down: z.number(),
  requests: z.number(),
  connections: z.number(),
  refused: z.number(),
  failed: z.number()
})
const CodeCount = z.object({ code: z.string(), count: z.number() })

export const Traffic = z.object({
  by: z.enum(TRAFFIC_STEPS),
  /** One for each hour or day, oldest first, including those without traffic. */
  steps: z.array(TrafficSums.extend({ at: Time })),
  total: TrafficSums,
  /** By access log code, most frequent first. */
  refusals: z.array(CodeCount),
  errors: z.array(CodeCount),
  /** When the agents were last polled; null: never. */
  as_of: Time.nullable()
})
export type Traffic = z.infer<typeof Traffic>

/** An order's limits and usage. Bytes; null: unlimited. */
export const OrderTraffic = Traffic.extend({
  used: z.number(),
  allowed: z.number().nullable(),
  mbps: z.number().nullable(),
  connections: z.number().nullable(),
  connections_per_second: z.number().nullable()
})
export type OrderTraffic = z.infer<typeof OrderTraffic>
