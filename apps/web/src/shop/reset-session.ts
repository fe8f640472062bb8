import { useEffect, useRef } from 'react'
import { call } from '../api/client.ts'
import { accounts } from '../api/routes.ts'
import { queryClient } from '../api/query.ts'
import { sessionQuery, setSessionUser } from '../api/session.ts'

/**
 * Ends whatever session there is when a page is opened. Where nobody is signed in there is nothing to end, and nothing is sent:
 * it could arrive after a login in another tab, which shares the cookie, and end that.
 * @returns settles when it is over: a login that overtook it would be ended with it
 */
export function useResetSession(): () => Promise<unknown> {
  const reset = useRef<Promise<unknown> | null>(null)
  useEffect(() => {
    if (queryClient.getQueryData(sessionQuery.queryKey) === null) return
    reset.current ??= call(accounts.logout)
      .catch(() => null)
      .then(() => setSessionUser(null))
  }, [])
  return () => reset.current ?? Promise.resolve()
}
