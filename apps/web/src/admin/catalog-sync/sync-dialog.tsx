import { Button, Skeleton } from '@mantine/core'
import type { CatalogPreview, LastSync, SyncChange, SyncKind, SyncPlan, SyncPreview, SyncRun } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ApiError, call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { passFocus } from '../../kit/focus-return.ts'
import { notify } from '../../kit/notify.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { UnavailableHint, useCommand, WorkButton } from '../kit/index.ts'
import {
  CancelSync,
  countsOf,
  isRunning,
  SHOWN,
  showRun,
  type StartSync,
  stepOf,
  SyncProgress,
  useSyncRuns
} from './sync-progress.tsx'
import classes from './sync.module.css'

function LastSyncLine({ onUndone }: { onUndone: () => void }) {
  const t = useT()
  const { data: last } = useQuery({ ...read(catalog.lastSync), gcTime: 0, staleTime: 0 })
  const undo = useCommand(catalog.undoSync, {
    invalidate: [...SHOWN, catalog.lastSync],
    confirm: { title: t('sync.undo'), body: t('sync.undoBody'), danger: true }
  })
  if (!last) return null
  const start = async () => {
    if (await undo.run({ params: { id: last.id } })) onUndone()
  }
  return (
    <section aria-label={t('sync.last')} className={classes.last}>
      <span>
        {t(`sync.lastOf.${last.what}`, { who: last.username || t('sync.shop') })} <Ago at={last.created_at} />
        {'. '}
        <span className="dim num">{t('sync.partCounts', counts(last))}</span>
      </span>
      {last.undone_at ? (
        <span className="dim">{t('sync.undone')}</span>
      ) : (
        <UnavailableHint
          why={
            last.changed_count > 0
              ? t('sync.whyNotUndo', { count: last.changed_count, names: last.changed.join(', ') })
              : undefined
          }
        >
          <WorkButton size="compact-sm" variant="default" working={undo.running} onClick={() => void start()}>
            {t('sync.undo')}
          </WorkButton>
        </UnavailableHint>
      )}
    </section>
  )
}

const counts = ({ created, updated, removed }: LastSync) => ({ created, updated, removed })

type Props = { of: SyncKind; start: StartSync; onClose: () => void }

/** The current sync: its progress, its plan or its result. Any operator may have started it. */
export function SyncDialog({ of, start, onClose }: Props) {
  const { data, error, refetch } = useSyncRuns()
  const run = data?.find(one => one.what === of)
  const place = useRef<HTMLDivElement>(null)
  // The sync applied in this dialog. When it ends, report it and close.
  const [applied, setApplied] = useState<number>()
  const [id, state] = [run?.id, run?.state]
  const close = useRef(onClose)
  close.current = onClose
  const t = useT()
  const words = useRef(t)
  words.current = t
  useEffect(() => {
    // The button that had the focus may have disappeared.
    if (document.activeElement === document.body) passFocus(place.current)
    if (state !== 'applied') return
    void refresh(...SHOWN, catalog.lastSync)
    if (id === undefined || id !== applied) return
    // Report it once: a late answer may still set the state back.
    setApplied(undefined)
    notify('good', words.current('list.done'))
    close.current()
  }, [id, state, applied])
  const shown = () => {
    if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
    if (!data || start.running) return <Skeleton height={120} />
    if (run && isRunning(run)) return <Going run={run} />
    if (run?.state === 'ready')
      return <Ready key={run.id} run={run} start={start} onApplied={setApplied} onClose={onClose} />
    return <Ended run={run} start={start} onClose={onClose} />
  }
  return (
    <div className="stack" ref={place} tabIndex={-1}>
      {start.failure && <Failure>{start.failure}</Failure>}
      {shown()}
      {of === 'catalogue' && <LastSyncLine onUndone={() => void start.run()} />}
    </div>
  )
}

function Failure({ children }: { children: string }) {
  const alert = useRef<HTMLParagraphElement>(null)
  useEffect(() => alert.current?.focus(), [children])
  return (
    <p ref={alert} role="alert" tabIndex={-1} className="bad">
      {children}
    </p>
  )
}

function Going({ run }: { run: SyncRun }) {
  const t = useT()
  return (
    <>
      <div className="stack" style={{ gap: '0.5rem' }}>
        <strong>{t(`sync.is.${run.state === 'applying' ? 'applying' : 'reading'}`)}</strong>
        <span role="status">
          {stepOf(t, run)} <span className="dim num">{countsOf(t, run)}</span>
        </span>
        <SyncProgress run={run} label={t('run.progress')} />
        <p className="dim">
          {t('sync.by', { who: run.username })} <Ago at={run.created_at} />. {t('sync.goesOn')}
        </p>
      </div>
      <div className="row to-end">
        <CancelSync run={run} />
      </div>
    </>
  )
}

type ReadyProps = { run: SyncRun; start: StartSync; onApplied: (id: number) => void; onClose: () => void }

function Ready({ run, start, onApplied, onClose }: ReadyProps) {
  const t = useT()
  const { data: plan, error, refetch } = useQuery(read(catalog.syncPlan, { params: { id: run.id } }))
  const [failure, setFailure] = useState('')
  const [applying, setApplying] = useState(false)
  const apply = async () => {
    setApplying(true)
    setFailure('')
    try {
      const begun = await call(catalog.applySync, { params: { id: run.id } })
      onApplied(begun.id)
      showRun(begun)
    } catch (problem) {
      setFailure(failureText(problem))
      // Another operator may have applied or cancelled it.
      void refresh(catalog.syncRuns)
    } finally {
      setApplying(false)
    }
  }
  return (
    <>
      {failure && <Failure>{failure}</Failure>}
      <p className="row between size-body" style={{ gap: '0.5rem 1rem' }}>
        <span className="dim">
          {t('sync.readBy', { who: run.username })} <Ago at={run.ready_at ?? run.created_at} />
        </span>
        <WorkButton size="compact-sm" variant="default" working={start.running} onClick={() => void start.run()}>
          {t('sync.readAgain')}
        </WorkButton>
      </p>
      {error && !plan ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : plan ? (
        <Plan plan={plan} />
      ) : (
        <Skeleton height={160} />
      )}
      <div className="row to-end">
        {/* A plan without changes needs no decision. */}
        <CancelSync run={run} {...(plan && isNothing(plan) ? { words: t('list.close') } : {})} onDone={onClose} />
        {plan && !isNothing(plan) && (
          <WorkButton working={applying} onClick={() => void apply()}>
            {t('sync.apply')}
          </WorkButton>
        )}
      </div>
    </>
  )
}

/** How the last sync ended, with a button to start the next. */
function Ended({ run, start, onClose }: { run: SyncRun | undefined; start: StartSync; onClose: () => void }) {
  const t = useT()
  if (run?.state === 'failed') {
    const { reason, params, msg } = run
    const why = new ApiError('refused', msg ?? '', 409, 409, { reason, params })
    return <ErrorState error={why} onRetry={() => void start.run()} />
  }
  const body =
    run?.state === 'applied' && run.counts
      ? t('sync.partCounts', run.counts)
      : t(run?.state === 'cancelled' ? 'sync.cancelledHint' : 'sync.beginHint')
  const title =
    run?.state === 'applied' ? t('run.done') : t(run?.state === 'cancelled' ? 'run.cancelled' : 'sync.begin')
  return (
    <>
      <EmptyState title={title} body={body} compact />
      <div className="row to-end">
        <Button variant="default" onClick={onClose}>
          {t('list.close')}
        </Button>
        <WorkButton working={start.running} onClick={() => void start.run()}>
          {t('sync.read')}
        </WorkButton>
      </div>
    </>
  )
}

const VISIBILITIES = ['internal', 'unlisted', 'shown'] as const
const isVisibility = (value: string): value is (typeof VISIBILITIES)[number] => VISIBILITIES.some(one => one === value)

function ChangeList({ changes, label }: { changes: readonly SyncChange[]; label: string }) {
  const t = useT()
  const shown = (field: SyncChange['fields'][number]['field'], value: string): string => {
    if (field === 'visibility' && isVisibility(value)) return t(`sync.visibility.${value}`)
    return value || '–'
  }
  if (changes.length === 0) return null
  return (
    <ul className={classes.changes} aria-label={label} tabIndex={0}>
      {changes.map(({ kind, name, fields }, at) => (
        <li key={at} data-kind={kind}>
          <strong>{t(`sync.kind.${kind}`)}</strong>
          <span>{name}</span>
          {fields.map(({ field, was, is }) => (
            <small key={field}>
              {t('form.staleField', { field: t(`sync.field.${field}`), was: shown(field, was), is: shown(field, is) })}
            </small>
          ))}
        </li>
      ))}
    </ul>
  )
}

const isNothing = (plan: SyncPlan): boolean =>
  plan.products === 0 &&
  (plan.what === 'catalogue' ? plan.parts.every(one => one.changes.length === 0) : plan.changes.length === 0)

function Plan({ plan }: { plan: SyncPlan }) {
  const t = useT()
  const changes = plan.what === 'catalogue' ? <Parts plan={plan} /> : <Changes plan={plan} />
  return (
    <>
      {isNothing(plan) ? <EmptyState title={t('sync.nothing')} body={t('sync.nothingHint')} /> : changes}
      {plan.what === 'catalogue' && <Aside plan={plan} />}
    </>
  )
}

function Changes({ plan }: { plan: SyncPreview }) {
  const t = useT()
  const { created, updated, removed, products, changes } = plan
  const left = created + updated + removed - changes.length
  return (
    <>
      <p>{t('sync.counts', { created, updated, removed, products })}</p>
      <ChangeList changes={changes} label={t('sync.changes')} />
      {left > 0 && <p className="dim">{t('sync.more', { count: left })}</p>}
      <p className="dim">{t('sync.kept')}</p>
    </>
  )
}

function Parts({ plan }: { plan: CatalogPreview }) {
  const t = useT()
  return (
    <>
      {plan.parts.map(({ part, created, updated, removed, changes }) => {
        const left = created + updated + removed - changes.length
        if (changes.length === 0) return null
        return (
          <section key={part} aria-label={t(`sync.part.${part}`)} className="stack">
            <h3 className={`row baseline size-body ${classes.part}`} style={{ gap: '0 0.75rem' }}>
              {t(`sync.part.${part}`)}
              <small className="dim num">{t('sync.partCounts', { created, updated, removed })}</small>
            </h3>
            <ChangeList changes={changes} label={t('sync.changesOf', { part: t(`sync.part.${part}`) })} />
            {left > 0 && <p className="dim">{t('sync.more', { count: left })}</p>}
          </section>
        )
      })}
      {plan.products > 0 && <p>{t('sync.moved', { count: plan.products })}</p>}
      <p className="dim">{t('sync.kept')}</p>
    </>
  )
}

/** What a sync leaves out: internal products, and plans for new products. */
function Aside({ plan: { internal, offered } }: { plan: CatalogPreview }) {
  const t = useT()
  return (
    <>
      {internal.length > 0 && (
        <section aria-label={t('sync.internal')}>
          <h3 className={`row baseline size-body ${classes.part}`} style={{ gap: '0 0.75rem' }}>
            {t('sync.internal')}
          </h3>
          <ul className="breaks size-body">
            {internal.map(({ kind, name, because }) => (
              <li key={`${kind} ${name}`}>
                <strong>{name}</strong>{' '}
                <span className="dim">{t(`sync.internalBy.${kind}`, { products: because.join(', ') })}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {offered.length > 0 && (
        <details>
          <summary>{t('sync.offered', { count: offered.length })}</summary>
          <p className="dim">{t('sync.offeredHint')}</p>
          <ul className="breaks size-body">
            {offered.map(({ id, name }) => (
              <li key={id}>{name}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
