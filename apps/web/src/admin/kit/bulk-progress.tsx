import type { BulkRun } from '@netlet/contract'
import { RUN_PERMISSIONS } from '@netlet/contract/permissions'
import { Progress } from '@mantine/core'
import { useMay } from '../../api/may.ts'
import { bulk } from '../../api/routes.ts'
import en from '../../i18n/admin.en.json'
import { useT, type Key } from '../../i18n/admin.ts'
import type { T } from './resource.ts'
import { useCommand } from './use-command.ts'
import { WorkButton } from './work-button.tsx'
import { figures } from './words.ts'

export const goesOn = ({ state }: BulkRun): boolean => state === 'queued' || state === 'running'

/** A newer server may send an action that has no word here. */
export const actionName = (t: T, action: string): string =>
  `bulk.${action}` in en ? t(`bulk.${action}` as Key) : '未知操作类型'

/** '5 of 1,200 done, 1 refused'. */
export const countsOf = (t: T, { done, total, refused }: BulkRun): string =>
  t('run.counts', figures({ done, total, refused }))

export function RunProgress({
  run,
  label,
  className
}: {
  run: BulkRun | undefined
  label: string
  className?: string
}) {
  const { done, total, refused } = run ?? { done: 0, total: 0, refused: 0 }
  return (
    <Progress
      className={className}
      value={total ? Math.floor((done / total) * 100) : 0}
      color={refused ? 'yellow.8' : 'lagoon'}
      aria-label={label}
      size="sm"
      animated={run !== undefined && goesOn(run)}
    />
  )
}

/** Cancels an active run, if the role may start such runs. @param label names the run if the button's words do not */
export function CancelRun({ run, label }: { run: BulkRun; label?: string }) {
  const t = useT()
  const { may } = useMay()
  const cancel = useCommand(bulk.cancel, { invalidate: [bulk.runs, bulk.run] })
  if (!goesOn(run) || !may(RUN_PERMISSIONS[run.action])) return null
  return (
    <WorkButton
      size="compact-sm"
      variant="default"
      working={cancel.running}
      aria-label={label}
      onClick={() => void cancel.run({ params: { id: run.id } })}
    >
      {t('run.cancel')}
    </WorkButton>
  )
}
