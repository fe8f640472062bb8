/** Small shapes that several domains share. */
import { z } from 'zod'
import { message } from './form-messages.ts'
import { fromCents, toCents } from './money.ts'

/** An id in a path or body: 1, or '1' from scripts and forms. */
export const Id = z.union(
  [
    z.int().positive(message('must_be_id')),
    z
      .string()
      .regex(/^[1-9]\d{0,14}$/, message('must_be_id'))
      .transform(Number)
  ],
  {
    error: message('must_be_id')
  }
)
export const IdParams = z.object({ id: Id })

/** An access rule's id. It is a 4-byte integer, because rules are stored in arrays. */
export const RuleId = Id.refine(id => id <= 2_147_483_647, message('must_be_id'))

/**
 * The platform's own stock of a variant. 'none': it keeps none, as it should. 'counted': each sale lowers a number, and
 * at zero its checkout refuses the variant. 'sold_out': it refuses it now.
 */
export const PlatformStock = z.enum(['none', 'counted', 'sold_out'])
export type PlatformStock = z.infer<typeof PlatformStock>

/** The values of a reason's sentence, by placeholder: see `Params`. */
export const ReasonParams = z.record(z.string(), z.union([z.string(), z.number()]))

/** PostgreSQL's text and jsonb refuse NUL and unpaired surrogates. */
export const storable = (value: string): boolean => !value.includes('\0') && value.isWellFormed()

/**
 * An address that the server may post to: without user or password, which would be sent to the receiver, and without
 * anything that a parser would repair.
 */
export function isPostTarget(value: string): boolean {
  if (!/^https?:\/\/[^\s/?#\\][^\s\\#]*$/i.test(value)) return false
  const url = URL.parse(value)
  return url !== null && url.username === '' && url.password === ''
}

/** Whether JSON, including its keys, can be stored. The body's nesting is already limited. */
export function storableJson(value: unknown): boolean {
  if (typeof value === 'string') return storable(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => storable(key) && storableJson(inner))
}

function isTimeZone(value: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(value)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** An IANA time zone, such as 'Europe/Berlin'. */
export const TimeZone = () =>
  z
    .string({ error: message('must_be_time_zone') })
    .trim()
    .max(64, message('must_be_time_zone'))
    .refine(isTimeZone, message('must_be_time_zone'))

/** A form's text: trimmed; empty is `missing`. */
export const text = (missing: string, max = 255) =>
  z
    .string({ error: missing })
    .trim()
    .min(1, missing)
    .max(max, message('at_most_characters', { max }))
    .refine(storable, message('forbidden_character'))

/** Optional text: absent, null and '' are all ''. */
export const optionalText = (max = 255) =>
  z
    .string()
    .trim()
    .max(max, message('at_most_characters', { max }))
    .refine(storable, message('forbidden_character'))
    .nullish()
    .transform(value => value ?? '')

const amount = /^\d{1,9}(\.\d{1,2})?$/

/** Money from outside: '12.3', '12.30' or 12.3; exact, not negative, up to 2 decimals. Output '12.30'. */
export const MoneyInput = (wrong = message('must_be_amount')) =>
  z
    .union([z.string(), z.number()], { error: wrong })
    .transform(value => String(value).trim())
    .refine(value => amount.test(value), wrong)
    .transform(value => fromCents(toCents(value)))

/**
 * Part of forms that edit a row: the row's `version` when the form was opened. The edit is refused if the row has
 * changed. Scripts may omit it to overwrite.
 */
export const formVersion = {
  version: z
    .string()
    .max(64, message('at_most_characters', { max: 64 }))
    .optional()
}

/** Money on the wire: a string with 2 decimals. */
export const Money = z.string()

/** ISO 8601 UTC. */
export const Time = z.string()

/** The last year stays free, because derived times, such as the end of a day, are stored too. */
const [EARLIEST, LATEST] = [Date.UTC(1970, 0, 1), Date.UTC(9999, 0, 1)]
/** PostgreSQL has no year 0, and nothing in the shop predates 1970. */
const storableTime = (value: string): boolean => {
  const at = Date.parse(value)
  return at >= EARLIEST && at < LATEST
}

/** '2026-03'; the database has no year 0. */
export const Month = z.string().regex(/^(?!0000)\d{4}-(0[1-9]|1[0-2])$/)
/** A day from outside, such as 2026-03-01, in the years 1970 to 9998. */
export const Day = (wrong = message('enter_time')) => z.iso.date(wrong).refine(storableTime, wrong)

/**
 * An instant from outside in ISO 8601 with offset, in the years 1970 to 9998 UTC. Output: ISO 8601 UTC, because
 * PostgreSQL does not accept every offset.
 */
export const Instant = (wrong = message('enter_time')) =>
  z.iso
    .datetime({ offset: true, error: wrong, abort: true })
    .refine(storableTime, { error: wrong, abort: true })
    .transform(value => new Date(value).toISOString())

/** A whole number in a query. */
export const queryInt = (min: number, max: number, wrong: string) =>
  z
    .union([z.string().regex(/^-?\d{1,9}$/, wrong), z.int(wrong)], { error: wrong })
    .transform(Number)
    .refine(value => value >= min && value <= max, wrong)

export const Search = z
  .string()
  .trim()
  .max(200, message('at_most_characters', { max: 200 }))
  .refine(storable, message('forbidden_character'))
  .optional()
  .transform(value => value || undefined)

/** '1,2,3' → [1, 2, 3], distinct. */
export const IdList = z
  .string()
  .max(20_000, message('too_many_ids'))
  .transform(value =>
    value
      .split(',')
      .map(part => part.trim())
      .filter(Boolean)
  )
  .pipe(
    z.array(
      z
        .string()
        .regex(/^[1-9]\d{0,14}$/, message('must_be_ids'))
        .transform(Number)
    )
  )
  .transform(ids => [...new Set(ids)])

export const Done = z.null()
export const IdName = z.object({ id: z.number(), name: z.string() })
/** Accepted background work. */
export const Task = z.object({ task_id: z.string(), status: z.literal('queued') })

export const CART_STEPS = [1, 8, 16, 32, 64, 128, 256] as const
