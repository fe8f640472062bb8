import type { LastSync } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { Ago } from '../../kit/time.tsx'
import { useCommand, UnavailableHint, WorkButton } from '../kit/index.ts'
import { SHOWN } from './runs.ts'
import classes from './sync.module.css'

export function LastSyncLine({ onUndone }: { onUndone: () => void }) {
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
