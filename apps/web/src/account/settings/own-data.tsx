import type { Confirmation } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { onlineManager } from '@tanstack/react-query'
import { useState, type MouseEvent } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { ApiError, call } from '../../api/client.ts'
import { endSession } from '../../api/end-session.ts'
import { accounts } from '../../api/routes.ts'
import { useT } from '../../i18n/account.ts'
import { failureText } from '../../i18n/failures.ts'
import { useFocusAfterReplace } from '../../kit/focus-return.ts'
import { notify } from '../../kit/notify.ts'
import { leaveForGood } from '../../kit/return-path.ts'
import { ConfirmForm } from './confirm-form.tsx'

/** The browser alone would report the failed download, if at all. */
function sayIfOffline(event: MouseEvent): void {
  if (onlineManager.isOnline()) return
  event.preventDefault()
  notify('bad', failureText(new ApiError('network', '')))
}

/** Downloads the user's data and deletes the account. Administrators cannot delete theirs. */
export function OwnData({ canDelete }: { canDelete: boolean }) {
  const t = useT()
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const [asked, setAsked] = useState(false)
  const ask = useFocusAfterReplace(asked)
  const remove = async (confirmation: Confirmation) => {
    await endSession(
      () => call(accounts.deleteAccount, { body: confirmation }),
      () => {
        // The guard may render once more before the other page does.
        leaveForGood(pathname + search, pageAt('home'))
        return navigate(pageAt('home'))
      }
    )
    notify('good', t('data.deleted'))
  }
  return (
    <>
      <p className="dim">{t('data.hint')}</p>
      <Button
        component="a"
        href={accounts.dataExport.path}
        download
        onClick={sayIfOffline}
        variant="default"
        leftSection={<IconDownload size={18} aria-hidden />}
      >
        {t('data.download')}
      </Button>
      {canDelete && <p className="dim">{t('data.deleteHint')}</p>}
      {asked ? (
        <ConfirmForm danger label={t('data.delete')} onConfirm={remove} onCancel={() => setAsked(false)} />
      ) : (
        canDelete && (
          <Button ref={ask} variant="default" onClick={() => setAsked(true)}>
            {t('data.delete')}
          </Button>
        )
      )}
    </>
  )
}
