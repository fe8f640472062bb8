import { useLocation, useNavigate } from 'react-router'
import { call, holdCallsDuring } from '../api/client.ts'
import { queryClient, refreshAll } from '../api/query.ts'
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
  const endSession = async () => {
    await call(accounts.logout)
    leaveForGood(pathname + search)
    await navigate('/login')
    // What has begun meanwhile waits, and is never asked.
    await queryClient.cancelQueries()
    setSessionUser(null)
  }
  return useMutation({
    // What the screen has asked for is taken back: it would be answered that nobody is signed in.
    mutationFn: async () => {
      await queryClient.cancelQueries()
      await holdCallsDuring(endSession())
    },
    onError: error => {
      notify('bad', failureText(error, t('logout.failed')))
      void refreshAll()
    }
  })
}
