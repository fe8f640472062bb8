import { refuse, type Refusal } from '@netlet/contract'
import { createHash } from 'node:crypto'

/** What a form shows of a row, by the names of its own fields: JSON, in one order, and no secret. */
export type FormFields = Readonly<Record<string, unknown>>

/** A form that edits a row, with the version that the row had when it was opened. */
export type Edit<Form> = Form & { version?: string | undefined }

/** The version of a row: 16 characters that change if, and only if, a field changes that its form shows. */
export const versionOf = (fields: FormFields): string =>
  createHash('sha256').update(canonical(fields)).digest('base64url').slice(0, 16)

/**
 * Refuses an edit whose form was opened on another version of the row. Called under the row's lock, before anything is
 * written. A form without a version overwrites what is there.
 * @param opened the version in the form
 * @param current the row as it is presented now; the refusal carries it
 * @param fields what the form would show now, and what it sends; those that differ are named in `changed`
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
