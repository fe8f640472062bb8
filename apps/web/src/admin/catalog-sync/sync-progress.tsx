import type { SyncRun } from '@netlet/contract'
import { Progress } from '@mantine/core'
import { useMay } from '../../api/session.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useCommand, WorkButton } from '../kit/index.ts'
import { goesOn } from './runs.ts'

export function SyncProgress({ run, label, className }: { run: SyncRun; label: string; className?: string }) {
  const { done, total } = run
  if (!total || !goesOn(run)) return null
  return (
    <Progress
      className={className}
      value={Math.floor((done / total) * 100)}
      color="lagoon"
      aria-label={label}
      size="sm"
      animated
    />
  )
}

/**
 * Cancels a sync, if the role may start one.
 * @param words the button's text, by default 'Cancel'
 * @param label names the sync if the text does not
 */
export function CancelSync({
  run,
  words,
  label,
  onDone
}: {
  run: SyncRun
  words?: string
  label?: string
  onDone?: () => void
}) {
  const t = useT()
  const { mayCall } = useMay()
  const cancel = useCommand(catalog.cancelSync, { invalidate: [catalog.syncRuns] })
  if (!mayCall(catalog.cancelSync)) return null
  return (
    <WorkButton
      size={label ? 'compact-sm' : 'sm'}
      variant="default"
      working={cancel.running}
      aria-label={label}
      onClick={() => void cancel.run({ params: { id: run.id } }).then(isDone => isDone && onDone?.())}
    >
      {words ?? t('run.cancel')}
    </WorkButton>
  )
}
