import { pageAt } from '@netlet/contract/pages'
import { useLocation, useNavigate } from 'react-router'
import { call } from '../api/client.ts'
import { endSession } from '../api/session.ts'
import { accounts } from '../api/routes.ts'
import { failureText } from '../i18n/failures.ts'
import { useT } from '../i18n/index.ts'
import { mayLeave } from '../kit/leaving.ts'
import { notify } from '../kit/notify.ts'
import { leaveForGood } from '../kit/return-path.ts'
import { useMutation } from '../api/use-mutation.ts'

/** Logs out and leads to the login page. Asks first if the screen has unsaved changes. */
export function useLogout() {
  const t = useT()
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const leave = () => {
    leaveForGood(pathname + search)
    return navigate(pageAt('login'))
  }
  return useMutation({
    mutationFn: async () => {
      if (await mayLeave()) await endSession(() => call(accounts.logout), leave)
    },
    onError: error => notify('bad', failureText(error, t('logout.failed')))
  })
}
