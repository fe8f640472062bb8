import { useEffect, useState } from 'react'
import { useLatest } from './use-latest.ts'

/** Milliseconds without typing before a search starts. */
const PAUSE = 300
/** The contract's limit for a search. */
export const LONGEST_SEARCH = 200

export const searchIn = (text: string) => text.trim().slice(0, LONGEST_SEARCH)

/**
 * The text in a search field whose value is kept in the address.
 * @param search the value in the address; after Back or Forward the field shows it
 * @param write is called with the text when typing pauses
 * @param clean the search that a typed text means
 */
export function useTyped(search: string, write: (search: string) => void, clean = searchIn) {
  const [typed, setTyped] = useState(search)
  const [known, setKnown] = useState(search)
  const latest = useLatest(write)
  if (known !== search) {
    setKnown(search)
    setTyped(search)
  }
  useEffect(() => {
    const wanted = clean(typed)
    if (wanted === search) return
    const timer = setTimeout(() => {
      setKnown(wanted)
      latest.current(wanted)
    }, PAUSE)
    return () => clearTimeout(timer)
  }, [typed, search, clean, latest])
  return [typed, setTyped] as const
}
