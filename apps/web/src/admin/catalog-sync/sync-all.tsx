import type { CatalogPreview, LastSync } from '@netlet/contract'
import { Button, Modal, Skeleton } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { parseAsBoolean, useQueryState } from 'nuqs'
import { useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { useMay } from '../../api/may.ts'
import { read, refresh } from '../../api/query.ts'
import { catalog, inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../../kit/notify.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { Ago } from '../../kit/time.tsx'
import { useCommand, WithReason, WorkButton } from '../kit/index.ts'
import { ChangeList } from './change-list.tsx'
import classes from './sync.module.css'

/** What reads the catalogue, which a sync changes as a whole. */
const SHOWN = [catalog.products, catalog.collections, catalog.tags, catalog.priceDrift, inventory.rules]

/** Takes products, prices, collections and tags from the platform, after it has shown what that changes; and undoes it. */
export function SyncAllButton() {
  const t = useT()
  const [opened, setOpened] = useQueryState('sync', parseAsBoolean.withDefault(false).withOptions({ history: 'push' }))
  if (!useMay().mayCall(catalog.sync)) return null
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconRefresh size={16} aria-hidden />}
        onClick={() => void setOpened(true)}
      >
        {t('sync.open')}
      </Button>
      <Modal
        opened={opened}
        onClose={() => void setOpened(null)}
        title={t('sync.title.catalogue')}
        size="xl"
        // Above the dashboard's full view.
        zIndex={250}
        attributes={{ header: { role: 'presentation' } }}
        closeButtonProps={{ 'aria-label': t('list.close') }}
      >
        <Plan onClose={() => void setOpened(null)} />
      </Modal>
    </>
  )
}

function Plan({ onClose }: { onClose: () => void }) {
  const t = useT()
  // What the platform has may have changed a second ago: asked each time that the dialog opens.
  const { data, error, isFetching, refetch } = useQuery({ ...read(catalog.previewSync), gcTime: 0, staleTime: 0 })
  const [failure, setFailure] = useState('')
  const [running, setRunning] = useState(false)
  const alert = useRef<HTMLParagraphElement>(null)
  const apply = async (plan: string) => {
    setRunning(true)
    setFailure('')
    try {
      await call(catalog.sync, { body: { plan } })
      notify('good', t('list.done'))
      onClose()
      void refresh(...SHOWN, catalog.lastSync)
    } catch (problem) {
      setFailure(failureText(problem))
      requestAnimationFrame(() => alert.current?.focus())
      // It was refused because something else would have been done, or the platform failed.
      void refetch()
    } finally {
      setRunning(false)
    }
  }
  const nothing = data && data.products === 0 && data.parts.every(one => one.changes.length === 0)
  return (
    <div className="stack">
      {failure && (
        <p ref={alert} role="alert" tabIndex={-1} className={classes.failure}>
          {failure}
        </p>
      )}
      {error && !isFetching ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data || (isFetching && !running) ? (
        <div role="status" aria-label={t('sync.reading')} className="stack">
          <p className="dim">{t('sync.reading')}</p>
          <Skeleton height={160} />
        </div>
      ) : (
        <>
          {nothing ? <EmptyState title={t('sync.nothing')} body={t('sync.nothingHint')} /> : <Parts plan={data} />}
          <Aside plan={data} />
        </>
      )}
      <Last onUndone={() => void refetch()} />
      <div className={classes.foot}>
        <Button variant="default" onClick={onClose}>
          {t(nothing ? 'list.close' : 'form.cancel')}
        </Button>
        {data && !nothing && !error && (
          <WorkButton working={running} disabled={isFetching} onClick={() => void apply(data.version)}>
            {t('sync.apply')}
          </WorkButton>
        )}
      </div>
    </div>
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
            <h3 className={classes.part}>
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

/** What a sync does not do: show what is internal, and make plans of new products. */
function Aside({ plan: { internal, offered } }: { plan: CatalogPreview }) {
  const t = useT()
  return (
    <>
      {internal.length > 0 && (
        <section aria-label={t('sync.internal')}>
          <h3 className={classes.part}>{t('sync.internal')}</h3>
          <ul className={classes.aside}>
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
          <ul className={classes.aside}>
            {offered.map(({ id, name }) => (
              <li key={id}>{name}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

/** The last sync, and its undo while that is possible. */
function Last({ onUndone }: { onUndone: () => void }) {
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
        <WithReason
          why={
            last.changed_count > 0
              ? t('sync.whyNotUndo', { count: last.changed_count, names: last.changed.join(', ') })
              : undefined
          }
        >
          <WorkButton size="compact-sm" variant="default" working={undo.running} onClick={() => void start()}>
            {t('sync.undo')}
          </WorkButton>
        </WithReason>
      )}
    </section>
  )
}

const counts = ({ created, updated, removed }: LastSync) => ({ created, updated, removed })
