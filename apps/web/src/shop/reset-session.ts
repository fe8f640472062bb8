import { useEffect, useRef } from 'react'
import { call } from '../api/client.ts'
import { accounts } from '../api/routes.ts'
import { queryClient } from '../api/query.ts'
import { sessionQuery, setSessionUser } from '../api/session.ts'

/**
 * Ends the current session when a page opens. Without a session it sends nothing: a logout that arrives after a login
 * in another tab would end that session, because tabs share the cookie.
 * @returns resolves when the session has ended; log in only then
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
