import { NativeSelect, Pagination } from '@mantine/core'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useT } from '../i18n/index.ts'
import classes from './data-table.module.css'
import { numberText } from './money.ts'
import { type Paging, useClampedPage } from './use-paging.ts'
import { scrollMotion } from './scroll-motion.ts'

/** Pixels covered by the shop's header. */
const HEADER = 60

/** The position of the shown rows in the list. */
type Place = { page: number; size: number; total: number }

/** The position of the rows on the screen; that of the previous rows while a page loads or after it failed. */
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
  /** No rows are shown, so show no range. */
  hidden: boolean
  table: RefObject<HTMLElement | null>
  sizes?: readonly number[]
}

export function TablePages({ paging, shown, hidden, table, sizes }: Props) {
  const t = useT()
  const foot = useRef<HTMLDivElement>(null)
  const { page, size, setPage, setSize } = paging
  // While another page loads, the total may belong to other filters.
  useClampedPage(paging, shown.page === page && shown.size === size ? shown.total : undefined)
  const from = (shown.page - 1) * shown.size + 1
  const to = Math.min(shown.page * shown.size, shown.total)
  const count = Math.ceil(shown.total / size)
  const names = { previous: t('previous'), next: t('next'), first: t('page.first'), last: t('page.last') }

  // The pressed button may be gone, or now belong to another page.
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
    // Continue at the table's top, with the focus too.
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
