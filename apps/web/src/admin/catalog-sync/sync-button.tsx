import type { SyncKind } from '@netlet/contract'
import { Button } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { parseAsBoolean, useQueryState } from 'nuqs'
import { useMay } from '../../api/session.ts'
import { queryClient, read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { isRunning, isReady, useStartSync, useSyncRuns } from './sync-progress.tsx'
import { SyncDialog } from './sync-dialog.tsx'

/** Opens the current sync of one kind, or starts a new one. */
export function SyncButton({ of }: { of: SyncKind }) {
  const t = useT()
  const [opened, setOpened] = useQueryState('sync', parseAsBoolean.withDefault(false).withOptions({ history: 'push' }))
  const { data: runs } = useSyncRuns()
  const start = useStartSync(of)
  if (!useMay().mayCall(catalog.startSync)) return null
  const close = () => void setOpened(null)
  const open = async () => {
    void setOpened(true)
    // If the runs cannot be read, the dialog says why.
    const known = runs ?? (await queryClient.fetchQuery(read(catalog.syncRuns)).catch(() => undefined))
    const last = known?.find(run => run.what === of)
    if (known && !(last && (isRunning(last) || isReady(last)))) await start.run()
  }
  return (
    <>
      <Button
        variant={of === 'catalogue' ? 'default' : 'filled'}
        leftSection={<IconRefresh size={16} aria-hidden />}
        onClick={() => void open()}
      >
        {t('sync.open')}
      </Button>
      <Dialog opened={opened} onClose={close} title={t(`sync.title.${of}`)} size={of === 'catalogue' ? 'xl' : 'lg'}>
        <SyncDialog of={of} start={start} onClose={close} />
      </Dialog>
    </>
  )
}
