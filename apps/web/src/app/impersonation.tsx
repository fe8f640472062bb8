import type { CurrentUser } from '@netlet/contract'
import { Button } from '@mantine/core'
import { useNavigate } from 'react-router'
import { call } from '../api/client.ts'
import { accounts } from '../api/routes.ts'
import { useT } from '../i18n/index.ts'
import { failureText } from '../i18n/failures.ts'
import { notify } from '../kit/notify.ts'
import { dashboardPath } from './manifest.ts'
import { setSessionUser } from '../api/session.ts'
import { useMutation } from '../api/use-mutation.ts'

/** Shows whose account an administrator is viewing, with a button to return. */
export default function Impersonation({ user }: { user: CurrentUser }) {
  const t = useT()
  const navigate = useNavigate()
  const back = useMutation({
    mutationFn: () => call(accounts.switchBack),
    onSuccess: admin => {
      setSessionUser(admin)
      void navigate(dashboardPath(true))
    },
    onError: error => notify('bad', failureText(error))
  })
  return (
    <aside
      aria-label={t('impersonation.label')}
      style={{ background: 'var(--nl-accent-soft)', borderBottom: '1px solid var(--nl-line)' }}
    >
      <div className="wide row" style={{ paddingBlock: '0.5rem', justifyContent: 'center' }}>
        <span>{t('impersonation.text', { user: user.username, admin: user.impersonated_by ?? '' })}</span>
        <Button size="compact-sm" variant="default" loading={back.isPending} onClick={() => back.mutate()}>
          {t('impersonation.back', { admin: user.impersonated_by ?? '' })}
        </Button>
      </div>
    </aside>
  )
}
