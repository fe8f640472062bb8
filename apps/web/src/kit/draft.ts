import type { UseFormReturnType } from '@mantine/form'
import { useEffect, useState } from 'react'
import { queryClient } from '../api/query.ts'
import { sessionQuery } from '../api/session.ts'
import { useLatest } from './use-latest.ts'

/** Milliseconds after its last change for which a draft is kept. */
const LIFE = 3_600_000
const PREFIX = 'netlet-draft-'

/**
 * What is entered in a form, kept in this tab for a reload or an expired session, for the user who entered it. Never
 * give it a secret. Without session storage there is no draft.
 * @param like the form's values with their types; anything else in storage is ignored
 * @param version of what the form starts from; a draft over another version is not restored
 */
export function useDraft<E extends object>(name: string, like: E, version = '') {
  // Fixed at mount: a user who signs in later must not save over this draft.
  const [draft] = useState(() => {
    const user = queryClient.getQueryData(sessionQuery.queryKey)
    const key = `${PREFIX}${name}${user ? `-by-${user.id}` : ''}`
    return {
      kept: restored(key, like, version),
      keep: (entered: Partial<E>, over = ''): void =>
        attempt(() => sessionStorage.setItem(key, JSON.stringify({ at: Date.now(), version: over, entered }))),
      forget: (): void => attempt(() => sessionStorage.removeItem(key))
    }
  })
  return draft
}

type Keeping<E> = {
  /** The changed values, without secrets. */
  entered: Partial<E>
  /** The version that they were entered over. */
  version?: string
  /** Whether the form has changes that were not discarded; without it, a closed form keeps its draft. */
  isUnsaved?: () => boolean
}

/** Saves a form's draft as the user types, and deletes it when the form is saved or discarded. */
export function useKeptDraft<E extends object>(
  { keep, forget }: Pick<ReturnType<typeof useDraft<E>>, 'keep' | 'forget'>,
  { entered, version = '', isUnsaved = () => true }: Keeping<E>
): void {
  const text = Object.keys(entered).length > 0 ? JSON.stringify(entered) : ''
  useEffect(() => {
    if (text === '') forget()
    else keep(entered, version)
    // oxlint-disable-next-line react/exhaustive-deps -- `text` is what is entered
  }, [keep, forget, text, version])
  const unsaved = useLatest(isUnsaved)
  useEffect(
    () => () => {
      if (!unsaved.current()) forget()
    },
    [forget, unsaved]
  )
}

type FormKeeping<V> = Omit<Keeping<V>, 'entered'> & {
  /** Fields that are never kept. */
  secrets?: readonly string[]
}

/** Restores a draft into the library's form, and keeps it while the user types. */
export function useFormDraft<V extends Record<string, unknown>>(
  name: string,
  form: UseFormReturnType<V>,
  { secrets = [], ...keeping }: FormKeeping<V>
) {
  const draft = useDraft(name, form.getInitialValues(), keeping.version)
  useEffect(() => {
    // `setValues` with nothing would clear the fields' errors.
    if (Object.keys(draft.kept).length > 0) form.setValues(draft.kept)
    // oxlint-disable-next-line react/exhaustive-deps -- only the initial values
  }, [])
  const changed = Object.entries(form.values).filter(([field]) => form.isDirty(field) && !secrets.includes(field))
  const entered = Object.fromEntries(changed) as Partial<V>
  useKeptDraft(draft, { ...keeping, entered })
  return draft
}

/** Removes all drafts of this tab, so that the next user does not see them. */
export const forgetDrafts = (): void =>
  attempt(() => {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
  })

function restored<E extends object>(key: string, like: E, version: string): Partial<E> {
  const { at, version: over, entered } = objectOf(attempt(() => JSON.parse(sessionStorage.getItem(key) ?? 'null')))
  if (typeof at !== 'number' || Math.abs(Date.now() - at) > LIFE || over !== version) return {}
  const fields = new Map<string, unknown>(Object.entries(like))
  const known = Object.entries(objectOf(entered)).filter(
    ([field, value]) => fields.has(field) && fits(value, fields.get(field))
  )
  return Object.fromEntries(known) as Partial<E>
}

/** Whether a value is of the same kind. A number may be missing. */
const fits = (value: unknown, like: unknown): boolean =>
  like === null || (value === null && typeof like === 'number') || kindOf(value) === kindOf(like)
const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value)
const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

/** Undefined if the browser denies storage or the value is not JSON. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
