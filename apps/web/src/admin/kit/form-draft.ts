import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'
import { useSession } from '../../api/session.ts'
import { draftOf } from '../../kit/draft.ts'
import { useLatest } from '../../kit/use-latest.ts'

/**
 * What was entered into a form and not saved: it is there again after a reload, or a session that ended meanwhile, for whoever
 * entered it alone.
 * @param version of the row that the form begins with: over another one nothing is entered again
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

/** Enters what was kept into a form that knows itself what it began with. */
export function useBegunDraft<E extends object>(
  { kept }: Pick<ReturnType<typeof useFormDraft<E>>, 'kept'>,
  form: { setValues: (values: Partial<E>) => void }
) {
  useEffect(() => {
    // Entering nothing would take away what the form already says of its fields.
    if (Object.keys(kept).length > 0) form.setValues(kept)
    // oxlint-disable-next-line react/exhaustive-deps -- what it begins with
  }, [])
}

type Keeping<E> = {
  /** Nothing where the form is as the row is. A secret does not belong in it. */
  entered: Partial<E>
  /** Of the row that it is entered over. */
  version: string
  /** Whether the form is left with changes that nobody has given up. */
  isUnsaved: () => boolean
}

/** Keeps what is entered into a form. It is forgotten with the form that was saved or given up. */
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
