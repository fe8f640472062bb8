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
 * Which entry Enter takes: the first, until somebody moves to another, which then stays though others come above it. A
 * screen reader is told of it as of a combobox's option. @returns what the input's keys have to tell
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
    // The library goes on from this place, and is not told that others came above it.
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
    // Once the library has moved.
    queueMicrotask(mark)
  }
}
