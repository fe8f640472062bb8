import { z } from 'zod'
import { message } from './form-messages.ts'
import { listQuery } from './list.ts'
import { Day, Instant, storable, Time } from './shapes.ts'
import { RESOURCES } from './resources.ts'

export const AuditEntry = z.object({
  id: z.number(),
  at: Time,
  actor: z.string(),
  /** The user that the actor was viewing the shop as. */
  viewed_as: z.string().nullable(),
  /** The name of the API key or token that the actor's program used. */
  via: z.string().nullable(),
  action: z.string(),
  target_type: z.string(),
  target_id: z.string(),
  /** A readable name, such as an order's number; null if the id is enough. */
  target_name: z.string().nullable(),
  before: z.unknown(),
  after: z.unknown(),
  ip: z.string().nullable()
})
export type AuditEntry = z.infer<typeof AuditEntry>

/** Verbs of entries that may show an attack, and of entries about what operators read. */
export const AUDIT_KINDS = {
  security: [
    'fail_login',
    'fail_confirmation',
    'fail_second_factor',
    'refuse_rights',
    'change_role',
    'make_token',
    'revoke_token'
  ],
  reads: ['read_credentials', 'export', 'look_up', 'read']
} as const

const word = z
  .string()
  .trim()
  .max(100, message('at_most_characters', { max: 100 }))
  .refine(storable, message('forbidden_character'))
  .optional()
  .transform(value => value || undefined)

/** A day, or an instant with its offset. */
const moment = z
  .union([Day(), Instant(), z.literal('')], { error: message('enter_time') })
  .optional()
  .transform(value => value || undefined)

export const auditQuery = listQuery({
  sort: ['id'],
  filters: {
    /** The actor's name, ignoring case. */
    actor: word,
    target_type: z.enum(RESOURCES, { error: message('must_select') }).optional(),
    target_id: word,
    /** The last part of the action: 'extend' finds 'order.extend'. */
    verb: word,
    kind: z.enum(['security', 'reads'], { error: message('must_select') }).optional(),
    /** The period, inclusive. A day is a whole day in UTC. */
    from: moment,
    until: moment
  }
})
