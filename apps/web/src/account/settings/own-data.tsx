import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../../api/client.ts'
import { accounts } from '../../api/routes.ts'
import { setSessionUser } from '../../api/session.ts'
import { useT } from '../../i18n/account.ts'
import { notify } from '../../kit/notify.ts'
import { ConfirmForm } from './confirm-form.tsx'

/** Downloads the own data; deletes the own account, which an administrator's is not. */
export function OwnData({ canDelete }: { canDelete: boolean }) {
  const t = useT()
  const navigate = useNavigate()
  const [asked, setAsked] = useState(false)
  const remove = async (password: string) => {
    await call(accounts.deleteAccount, { body: { password } })
    notify('good', t('data.deleted'))
    // First away from the guarded page: its guard would otherwise ask to come back here after the login.
    await navigate('/')
    setSessionUser(null)
  }
  return (
    <>
      <p className="dim">{t('data.hint')}</p>
      <Button
        component="a"
        href={accounts.dataExport.path}
        download
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
          <Button variant="default" onClick={() => setAsked(true)}>
            {t('data.delete')}
          </Button>
        )
      )}
    </>
  )
}
