import { useLocation, useNavigate } from 'react-router'
import { call } from '../api/client.ts'
import { accounts } from '../api/routes.ts'
import { failureText } from '../i18n/failures.ts'
import { useT } from '../i18n/index.ts'
import { notify } from '../kit/notify.ts'
import { leaveForGood } from '../kit/return-path.ts'
import { setSessionUser } from '../api/session.ts'
import { useMutation } from '../api/use-mutation.ts'

/** Ends the session and leads to the login page. */
export function useLogout() {
  const t = useT()
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  return useMutation({
    mutationFn: () => call(accounts.logout),
    onSuccess: async () => {
      leaveForGood(pathname + search)
      await navigate('/login')
      setSessionUser(null)
    },
    onError: error => notify('bad', failureText(error, t('logout.failed')))
  })
}
