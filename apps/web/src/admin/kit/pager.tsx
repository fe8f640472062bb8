import { Button, NativeSelect, Pagination } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { useT } from '../../i18n/admin.ts'
import shared from '../../kit/data-table.module.css'
import { numberText } from '../../kit/money.ts'
import { pageWithin } from '../../kit/use-paging.ts'
import type { List } from './list-state.ts'
import { UnavailableHint } from '../../kit/unavailable-hint.tsx'
import { countText } from './words.tsx'

type Props = {
  list: Pick<List, 'page' | 'size' | 'after' | 'go' | 'ask'>
  page: { data: readonly unknown[]; total: number; total_exact?: boolean; next?: string | null }
  sizes: readonly number[]
}

/** The pages of a list: by number if all rows were counted, else step by step with each page's last key. */
export function Pager({ list, page, sizes }: Props) {
  const t = useT()
  const exact = page.total_exact ?? true
  const { size } = list
  const first = (list.page - 1) * size + 1
  const last = first + page.data.length - 1
  const count = Math.ceil(page.total / size)
  const names = { previous: t('list.previous'), next: t('list.next'), first: t('list.first'), last: t('list.last') }
  return (
    <div className={shared.foot}>
      <span className="row inline" style={{ gap: '0.4rem 1rem' }}>
        <span className="dim num">
          {t('list.range', {
            from: numberText(first),
            to: numberText(last),
            total: countText(page.total, exact)
          })}
        </span>
        <NativeSelect
          size="xs"
          aria-label={t('list.size')}
          data={sizes.map(String)}
          value={String(size)}
          onChange={event => list.ask({ size: Number(event.currentTarget.value) })}
        />
      </span>
      {exact ? (
        count > 1 && (
          <Pagination
            size="sm"
            total={count}
            value={list.page}
            onChange={next => list.go({ page: next, after: '' })}
            siblings={1}
            getControlProps={control => ({ 'aria-label': names[control] })}
            getItemProps={item => ({ 'aria-label': t('list.page', { page: item }) })}
          />
        )
      ) : (
        <Steps list={list} page={page} />
      )}
    </div>
  )
}

function Steps({ list, page }: Pick<Props, 'list' | 'page'>) {
  const t = useT()
  // The keys of visited pages. A key leads only forward.
  const passed = useRef(new Map<number, string>())
  passed.current.set(list.page, list.after)
  const back = list.page - 1
  const key = passed.current.get(back)
  // Pages within the counted rows are also found by number.
  const reachable = back === 1 || key !== undefined || back * list.size <= page.total
  const atFirst = list.page === 1 ? t('list.isFirst') : undefined
  const step = (to: number, after: string) => list.go({ page: to, after })
  return (
    <nav className={shared.foot} style={{ border: 0, padding: 0 }} aria-label={t('list.pages')}>
      <UnavailableHint why={atFirst}>
        <Button size="compact-sm" variant="default" onClick={() => step(1, '')}>
          {t('list.first')}
        </Button>
      </UnavailableHint>
      <UnavailableHint why={atFirst ?? (reachable ? undefined : t('list.unreachable'))}>
        <Button size="compact-sm" variant="default" onClick={() => step(back, key ?? '')}>
          {t('list.previous')}
        </Button>
      </UnavailableHint>
      <span className="num" aria-current="page">
        {t('list.page', { page: list.page })}
      </span>
      <UnavailableHint why={page.next ? undefined : t('list.isLast')}>
        <Button size="compact-sm" variant="default" onClick={() => page.next && step(list.page + 1, page.next)}>
          {t('list.next')}
        </Button>
      </UnavailableHint>
    </nav>
  )
}

/** Moves back when the last row of a later page is deleted. */
export function useLastPage(list: List, page: Props['page'] | undefined, settled: boolean): void {
  const { go, page: shown, size } = list
  const exact = page?.total_exact ?? true
  const rows = page?.data.length
  const total = page?.total
  useEffect(() => {
    if (!settled || total === undefined || rows === undefined || rows > 0 || shown === 1) return
    go({ page: exact ? pageWithin(shown - 1, size, total) : shown - 1, after: '' }, 'replace')
  }, [settled, total, rows, shown, size, exact, go])
}
