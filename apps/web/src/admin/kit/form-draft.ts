import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'
import { useSession } from '../../api/session.ts'
import { draftOf } from '../../kit/draft.ts'
import { useLatest } from '../../kit/use-latest.ts'

/**
 * Keeps what is entered in a form across a reload or an expired session, for the user who entered it.
 * @param version of the row the form starts from; a draft of another version is not restored
 */
export function useFormDraft<E extends object>(name: string, version: string) {
  const { pathname } = useLocation()
  const { user } = useSession()
  const [draft] = useState(() => draftOf(`form-${pathname}-${name}-by-${user?.id ?? 0}`, { entered: '', version: '' }))
  const [kept] = useState((): Partial<E> => {
    const { entered, version: of } = draft.read()
    return entered !== '' && of === version ? (JSON.parse(entered) as Partial<E>) : {}
  })
  return { draft, kept }
}

/** Restores a draft into a form that keeps its own initial values. */
export function useBegunDraft<E extends object>(
  { kept }: Pick<ReturnType<typeof useFormDraft<E>>, 'kept'>,
  form: { setValues: (values: Partial<E>) => void }
) {
  useEffect(() => {
    // `setValues` with nothing would clear the fields' errors.
    if (Object.keys(kept).length > 0) form.setValues(kept)
    // oxlint-disable-next-line react/exhaustive-deps -- only the initial values
  }, [])
}

type Keeping<E> = {
  /** The changed values, without secrets. */
  entered: Partial<E>
  /** The version of the row they were entered over. */
  version: string
  /** Whether the form has changes that were not discarded. */
  isUnsaved: () => boolean
}

/** Saves a form's draft as the user types, and deletes it when the form is saved or discarded. */
export function useKeptDraft<E extends object>(
  { draft }: ReturnType<typeof useFormDraft<E>>,
  { entered, version, isUnsaved }: Keeping<E>
) {
  const text = Object.keys(entered).length > 0 ? JSON.stringify(entered) : ''
  useEffect(() => {
    if (text === '') draft.forget()
    else draft.keep({ entered: text, version })
  }, [draft, text, version])
  const unsaved = useLatest(isUnsaved)
  useEffect(
    () => () => {
      if (!unsaved.current()) draft.forget()
    },
    [draft, unsaved]
  )
}
