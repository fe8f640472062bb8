import { Button, Checkbox, Skeleton } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { DeadLetter } from '@netlet/contract'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { call } from '../../api/client.ts'
import { keyOf } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import { type Key, useT } from '../../i18n/admin.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { KeyboardRows, risky, type T, UnavailableHint, useCommand, WorkButton } from '../kit/index.ts'
import classes from './tasks.module.css'
import en from '../../i18n/admin.en.json'

const CHANGED = [settings.deadLetters, settings.tasks, settings.health, settings.audit]

/** Jobs that used up their retries: why, what they were for, and actions on one or many. */
export function DeadLetters() {
  const t = useT()
  const [params, setParams] = useSearchParams()
  const queue = params.get('queue') ?? ''
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [...keyOf(settings.deadLetters), queue],
    queryFn: ({ pageParam, signal }) =>
      call(
        settings.deadLetters,
        { query: { ...(queue ? { queue } : {}), ...(pageParam ? { after: pageParam } : {}) } },
        { signal }
      ),
    initialPageParam: '',
    getNextPageParam: last => (last.more ? last.data.at(-1)?.id : undefined)
  })
  const rows = data?.pages.flatMap(page => page.data)
  const selected = rows?.filter(({ id }) => ticked.has(id)).map(({ id }) => id) ?? []
  if (error && !rows) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!rows) return <Skeleton height={240} />
  if (rows.length === 0) return <EmptyState title={t('tasks.noDead')} body={t('tasks.noDeadHint')} />
  const toggle = (id: string) => {
    const next = new Set(ticked)
    if (!next.delete(id)) next.add(id)
    setTicked(next)
  }
  return (
    <div className="stack">
      <div className={classes.tools}>
        <Checkbox
          label={t('tasks.selectAll', { count: rows.length })}
          checked={selected.length === rows.length}
          indeterminate={selected.length > 0 && selected.length < rows.length}
          onChange={() => setTicked(new Set(selected.length === rows.length ? [] : rows.map(({ id }) => id)))}
        />
        <Actions ids={selected} name={t('tasks.selected', { count: selected.length })} />
        {queue && (
          <Button variant="default" size="sm" onClick={() => setParams({ tab: 'dead' })}>
            {t('tasks.allQueues')}
          </Button>
        )}
      </div>
      <KeyboardRows>
        <ul className="stack" style={{ gap: '0.75rem' }} aria-label={t('tasks.tab.dead')}>
          {rows.map(row => (
            <Letter key={row.id} row={row} ticked={ticked.has(row.id)} onTick={() => toggle(row.id)} />
          ))}
        </ul>
      </KeyboardRows>
      {hasNextPage && (
        <div>
          <WorkButton variant="default" working={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {t('tasks.more')}
          </WorkButton>
        </div>
      )}
    </div>
  )
}

function Letter({ row, ticked, onTick }: { row: DeadLetter; ticked: boolean; onTick: () => void }) {
  const t = useT()
  const name = nameOf(t, row.queue)
  return (
    <li className="card stack" style={{ gap: '0.5rem', padding: '0.75rem 1rem' }} data-row={row.id} tabIndex={-1}>
      <div className={classes.letterHead}>
        <Checkbox aria-label={t('tasks.select', { queue: name })} checked={ticked} onChange={onTick} />
        <strong>{name}</strong>
        {name !== row.queue && <span className="dim mono">{row.queue}</span>}
        <span className="dim">
          <Ago at={row.failed_at} />, {t('tasks.tries', { count: row.tries })}
        </span>
        <Actions ids={[row.id]} name={name} />
      </div>
      {row.error && <p className="breaks bad size-table">{row.error}</p>}
      <pre className={classes.payload}>{JSON.stringify(row.payload, null, 2)}</pre>
    </li>
  )
}

/** The server handles each job once, so a second press has no effect. */
function Actions({ ids, name }: { ids: readonly string[]; name: string }) {
  const t = useT()
  const retry = useCommand(settings.retryDeadLetters, { success: t('tasks.retried'), invalidate: CHANGED })
  const discard = useCommand(settings.discardDeadLetters, {
    confirm: risky(
      { title: t('list.deleteTitle'), body: t('tasks.discardBody', { count: ids.length }), danger: true },
      ids.length
    ),
    success: t('tasks.discarded'),
    invalidate: CHANGED
  })
  const body = { body: { ids: [...ids] } }
  const whyNot = ids.length === 0 ? t('tasks.noneSelected') : undefined
  return (
    <span className={classes.actions}>
      <UnavailableHint why={whyNot}>
        <WorkButton
          size="compact-sm"
          variant="default"
          working={retry.running}
          aria-label={t('tasks.retryOf', { name })}
          onClick={() => void retry.run(body)}
        >
          {t('tasks.retry')}
        </WorkButton>
      </UnavailableHint>
      <UnavailableHint why={whyNot}>
        <WorkButton
          size="compact-sm"
          variant="subtle"
          color="red.9"
          {...(whyNot === undefined && { c: 'var(--nl-bad)' })}
          working={discard.running}
          aria-label={t('tasks.discardOf', { name })}
          onClick={() => void discard.run(body)}
        >
          {t('tasks.discard')}
        </WorkButton>
      </UnavailableHint>
    </span>
  )
}

/** A queue's name; the technical name if it is unknown. */
export function nameOf(t: T, queue: string): string {
  const key = `tasks.name.${queue}`
  return key in en ? t(key as Key) : queue
}
