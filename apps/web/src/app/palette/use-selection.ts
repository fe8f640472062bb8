import { useSpotlight, type SpotlightStore } from '@mantine/spotlight'
import { useEffect, useLayoutEffect, useRef, type KeyboardEvent, type RefObject } from 'react'

type Options = {
  store: SpotlightStore
  /** The list's id. */
  list: string
  input: RefObject<HTMLInputElement | null>
  query: string
}

/**
 * Tracks which entry Enter opens: the first, until the user moves to another one, which then stays selected when
 * entries appear above it. Also sets `aria-activedescendant` for screen readers. @returns the input's key handler
 */
export function useSelection({ store, list, input, query }: Options): (event: KeyboardEvent) => void {
  const { opened } = useSpotlight(store)
  const moved = useRef(false)
  useEffect(() => {
    moved.current = false
  }, [query, opened])
  const mark = () => {
    const entries = [...document.querySelectorAll<HTMLElement>(`#${list} [data-action]`)]
    const current = entries.findIndex(entry => entry.hasAttribute('data-selected'))
    const selected = moved.current && current >= 0 ? current : query ? 0 : current
    entries.forEach((entry, index) => {
      entry.id = `${list}-${index}`
      entry.toggleAttribute('data-selected', index === selected)
      entry.setAttribute('aria-selected', String(index === selected))
    })
    // The library stores an index, so correct it when entries appear above.
    if (store.getState().selected !== selected) store.updateState(state => ({ ...state, selected }))
    const active = entries[selected]
    if (active) input.current?.setAttribute('aria-activedescendant', active.id)
    else input.current?.removeAttribute('aria-activedescendant')
  }
  useLayoutEffect(() => {
    if (opened) mark()
  })
  return ({ key }) => {
    if (key !== 'ArrowDown' && key !== 'ArrowUp') return
    moved.current = true
    // After the library has moved the selection.
    queueMicrotask(mark)
  }
}
