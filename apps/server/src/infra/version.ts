import { refuse, type Refusal } from '@netlet/contract'
import { createHash } from 'node:crypto'

/** The fields of a row that its form shows, under the form's names. JSON without secrets. */
export type FormFields = Readonly<Record<string, unknown>>

/** A form that edits a row, with the row's version from when the form was opened. */
export type Edit<Form> = Form & { version?: string | undefined }

/** The version of a row: 16 characters that change if, and only if, a field of its form changes. */
export const versionOf = (fields: FormFields): string =>
  createHash('sha256').update(canonical(fields)).digest('base64url').slice(0, 16)

/**
 * Refuses an edit if the row changed since its form was opened. Call it under the row's lock, before any write.
 * @param opened the version in the form; without one the form overwrites the row
 * @param current the row as presented now, which the refusal carries
 * @param fields the form's fields now and as sent; those that differ are named in `changed`
 */
export function staleEdit(
  opened: string | undefined,
  current: { version: string },
  { now, sent }: { now: FormFields; sent: FormFields }
): Refusal | undefined {
  if (opened === undefined || opened === current.version) return undefined
  const changed = Object.keys(now).filter(
    name => sent[name] !== undefined && canonical(sent[name]) !== canonical(now[name])
  )
  return refuse('stale', { data: { current, changed } })
}

/** JSON with the keys of each object in one order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner
  )
