import { NativeSelect, Pagination } from '@mantine/core'
import { useEffect, useRef, useState, type RefObject } from 'react'
import { useT } from '../i18n/index.ts'
import classes from './data-table.module.css'
import { scrollMotion } from './motion.ts'
import { numberText } from './number.ts'
import { useClampedPage, type Paging } from './use-paging.ts'

/** Pixels at the window's top that the shop's header covers. */
const HEADER = 60

/** Where the rows that are shown stand in the list. */
type Place = { page: number; size: number; total: number }

/** The place of the rows on the screen: while another page is on its way, or could not be read, that of the last ones. */
export function useShownPlace(paging: Paging | undefined, total: number | undefined, stale: boolean): Place | null {
  const [shown, setShown] = useState<Place | null>(null)
  if (!paging) return null
  if (stale || total === undefined) return shown
  const { page, size } = paging
  const now = { page, size, total }
  const isKnown = shown?.page === page && shown.size === size && shown.total === total
  if (!isKnown) setShown(now)
  return total > 0 ? now : null
}

type Props = {
  paging: Paging
  shown: Place
  /** No rows are shown, so there is nothing to say of them. */
  hidden: boolean
  table: RefObject<HTMLElement | null>
  sizes?: readonly number[]
}

/** Which rows of how many are shown, and the way to the others. */
export function TablePages({ paging, shown, hidden, table, sizes }: Props) {
  const t = useT()
  const foot = useRef<HTMLDivElement>(null)
  const { page, size, setPage, setSize } = paging
  // While another page is on its way, what is known is how long another list was, as one with other filters.
  useClampedPage(paging, shown.page === page && shown.size === size ? shown.total : undefined)
  const from = (shown.page - 1) * shown.size + 1
  const to = Math.min(shown.page * shown.size, shown.total)
  const count = Math.ceil(shown.total / size)
  const names = { previous: t('previous'), next: t('next'), first: t('page.first'), last: t('page.last') }

  // The button that was pressed may be gone, or be another page's by now.
  const pressed = useRef(false)
  useEffect(() => {
    if (!pressed.current) return
    pressed.current = false
    const active = document.activeElement
    if (active === document.body || active?.matches('[data-page], :disabled'))
      foot.current?.querySelector<HTMLElement>('[aria-current="page"]')?.focus({ preventScroll: true })
  }, [page])

  const begin = () => {
    const area = table.current
    if (!area || area.getBoundingClientRect().top >= HEADER) return
    area.scrollIntoView({ block: 'start', behavior: scrollMotion() })
    // Who reads on goes on from the table's top: the keyboard, too.
    area.querySelector<HTMLElement>('[data-rows]')?.focus({ preventScroll: true })
  }
  const go = (next: number) => {
    pressed.current = true
    setPage(next)
    begin()
  }
  const resize = (next: number) => {
    setSize(next)
    begin()
  }
  return (
    <div ref={foot} className={classes.foot}>
      <span className="dim num" role="status">
        {!hidden &&
          t('page.range', {
            from: numberText(from),
            to: numberText(Math.max(from, to)),
            total: numberText(shown.total)
          })}
      </span>
      {sizes && (
        <NativeSelect
          size="xs"
          aria-label={t('page.size')}
          data={sizes.map(String)}
          value={String(size)}
          onChange={event => resize(Number(event.currentTarget.value))}
        />
      )}
      {count > 1 && (
        <Pagination
          size="sm"
          total={count}
          value={Math.min(page, count)}
          onChange={go}
          siblings={1}
          getControlProps={control => ({ 'aria-label': names[control] })}
          getItemProps={item => ({ 'aria-label': t('page.number', { page: item }), 'data-page': item })}
        />
      )}
    </div>
  )
}
