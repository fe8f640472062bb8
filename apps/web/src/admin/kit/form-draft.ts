import { useEffect, useState } from 'react'
import { useLocation } from 'react-router'
import { useSession } from '../../api/session.ts'
import { draftOf } from '../../kit/draft.ts'
import { useLatest } from '../../kit/use-latest.ts'

type Texts = Record<string, string | boolean>

/**
 * What is entered into a form and not saved: it is there again after a reload, or a session that ended meanwhile, for whoever
 * entered it alone. It is forgotten with the form that was saved or given up. A secret does not belong in it.
 * @param version of the row that the form began with: over another one nothing is entered again
 * @param isUnsaved whether the form is left with changes that nobody has given up
 */
export function useFormDraft({
  name,
  version,
  isUnsaved
}: {
  name: string
  version: string
  isUnsaved: () => boolean
}) {
  const { pathname } = useLocation()
  const { user } = useSession()
  const [draft] = useState(() => draftOf(`form-${pathname}-${name}-by-${user?.id ?? 0}`, { texts: '', version: '' }))
  const [kept] = useState((): Texts => {
    const { texts, version: of } = draft.read()
    return texts !== '' && of === version ? (JSON.parse(texts) as Texts) : {}
  })
  const unsaved = useLatest(isUnsaved)
  useEffect(
    () => () => {
      if (!unsaved.current()) draft.forget()
    },
    [draft, unsaved]
  )
  return {
    kept,
    /** Keeps what was entered over the row of this version. */
    keep: (texts: Texts, of: string) => {
      if (Object.keys(texts).length > 0) draft.keep({ texts: JSON.stringify(texts), version: of })
      else draft.forget()
    }
  }
}
