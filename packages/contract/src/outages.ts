import { z } from 'zod'
import { customerNote } from './customer-note.ts'
import { Id, IdName, Instant, Time } from './shapes.ts'
import { OUTAGE_STATES } from './states.ts'

export const Outage = z.object({
  id: z.number(),
  server_id: z.number(),
  started_at: Time,
  /** Null: it continues. */
  ended_at: Time.nullable(),
  /** Entered by an operator. */
  by_hand: z.boolean()
})
export type Outage = z.infer<typeof Outage>

/** An outage in the list over all servers. */
export const OutageEntry = z.object({
  id: z.number(),
  server: IdName,
  started_at: Time,
  /** Null: it continues. */
  ended_at: Time.nullable(),
  /** Whole seconds, up to now if it continues. */
  seconds: z.number(),
  /** Entered by an operator. */
  by_hand: z.boolean(),
  /** When customers with addresses there were mailed; null: not mailed. */
  announced_at: Time.nullable(),
  /** Orders with addresses there that should have worked. */
  orders: z.number(),
  /** Orders that it was credited to. */
  credited: z.number(),
  state: z.enum(OUTAGE_STATES),
  /** The locations that its server sells in now, as plans name them. */
  locations: z.array(IdName),
  /** The linked incident of the status page; null: none. */
  incident: z.object({ id: z.number(), title: z.string() }).nullable()
})
export type OutageEntry = z.infer<typeof OutageEntry>

/**
 * An outage's effect on one order. `running`: its time runs; `grace`: a credit would revive it on the same addresses;
 * `ended`: its addresses are gone; `credited`: its time was credited.
 */
export const OUTAGE_PARTS = ['running', 'grace', 'ended', 'credited'] as const
export const OutageOrder = z.object({
  id: z.number(),
  order_id: z.string(),
  username: z.string(),
  part: z.enum(OUTAGE_PARTS),
  /** The credit, made or possible. Up to now if the outage continues. */
  seconds: z.number()
})
export type OutageOrder = z.infer<typeof OutageOrder>

export const CreditPreview = z.object({
  /** Orders that would be credited now, and their customers. */
  orders: z.number(),
  customers: z.number(),
  /** Those that have expired and are in grace. They are revived for the time they lost. */
  revived: z.number(),
  /** Orders past their grace that lost time. They get it only if an operator reopens them. */
  ended: z.number(),
  /** The first of these, with lost seconds. `credited`: recorded, so it can be reopened. */
  ended_meanwhile: z.array(
    z.object({ id: z.number(), order_id: z.string(), email: z.string(), seconds: z.number(), credited: z.boolean() })
  ),
  /** The least, the most and the total credit, in seconds. */
  lost: z.object({ least: z.number(), most: z.number(), total: z.number() }),
  /** Mails that would be sent: one to each customer whose orders are served again. */
  mails: z.number(),
  /** Orders already credited for this outage. */
  credited: z.number(),
  /** The outage's length. */
  seconds: z.number()
})
export type CreditPreview = z.infer<typeof CreditPreview>

/** The incident that the mail to credited customers names; by default the outage's. */
export const CreditOutageForm = z.object({ incident_id: Id.optional(), ...customerNote }).optional()

export const OutageForm = z.object({ started_at: Instant(), ended_at: Instant() })
export type OutageForm = z.output<typeof OutageForm>
