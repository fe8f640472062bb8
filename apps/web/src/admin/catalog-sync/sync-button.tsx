import type { SyncPreview } from '@netlet/contract'
import { Button, Modal, Skeleton } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { parseAsBoolean, useQueryState } from 'nuqs'
import { useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { useMay } from '../../api/may.ts'
import { read, refresh } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify } from '../../kit/notify.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { WorkButton } from '../kit/index.ts'
import { ChangeList } from './change-list.tsx'
import classes from './sync.module.css'

type Kind = 'collections' | 'tags'

const CALLS = {
  collections: { preview: catalog.previewCollections, sync: catalog.syncCollections, list: catalog.collections },
  tags: { preview: catalog.previewTags, sync: catalog.syncTags, list: catalog.tags }
}

/** Takes collections or tags from the platform, after it has shown what that changes. */
export function SyncButton({ of }: { of: Kind }) {
  const t = useT()
  const [opened, setOpened] = useQueryState('sync', parseAsBoolean.withDefault(false).withOptions({ history: 'push' }))
  if (!useMay().mayCall(CALLS[of].sync)) return null
  return (
    <>
      <Button leftSection={<IconRefresh size={16} aria-hidden />} onClick={() => void setOpened(true)}>
        {t('sync.open')}
      </Button>
      <Modal
        opened={opened}
        onClose={() => void setOpened(null)}
        title={t(`sync.title.${of}`)}
        size="lg"
        // Above the dashboard's full view.
        zIndex={250}
        attributes={{ header: { role: 'presentation' } }}
        closeButtonProps={{ 'aria-label': t('list.close') }}
      >
        <Plan of={of} onClose={() => void setOpened(null)} />
      </Modal>
    </>
  )
}

function Plan({ of, onClose }: { of: Kind; onClose: () => void }) {
  const t = useT()
  const { preview, sync, list } = CALLS[of]
  // What the platform has may have changed a second ago: asked each time that the dialog opens.
  const { data, error, isFetching, refetch } = useQuery({ ...read(preview), gcTime: 0, staleTime: 0 })
  const [failure, setFailure] = useState('')
  const [running, setRunning] = useState(false)
  const alert = useRef<HTMLParagraphElement>(null)
  const apply = async (plan: string) => {
    setRunning(true)
    setFailure('')
    try {
      await call(sync, { query: { plan } })
      notify('good', t('list.done'))
      onClose()
      void refresh(list, catalog.products)
    } catch (problem) {
      setFailure(failureText(problem))
      requestAnimationFrame(() => alert.current?.focus())
      // It was refused because something else would have been done, or the platform failed.
      void refetch()
    } finally {
      setRunning(false)
    }
  }
  const nothing = data && data.changes.length === 0 && data.products === 0
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
          <Skeleton height={120} />
        </div>
      ) : nothing ? (
        <EmptyState title={t('sync.nothing')} body={t('sync.nothingHint')} />
      ) : (
        <Changes plan={data} />
      )}
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
