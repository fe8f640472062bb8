import { useEffect, useRef } from 'react'
import { call } from '../api/client.ts'
import { accounts } from '../api/routes.ts'
import { setSessionUser } from '../api/session.ts'

/**
 * Ends whatever session there is when a page is opened. Nothing to end is as good.
 * @returns settles when it is over: a login that overtook it would be ended with it
 */
export function useResetSession(): () => Promise<unknown> {
  const reset = useRef<Promise<unknown> | null>(null)
  useEffect(() => {
    reset.current ??= call(accounts.logout)
      .catch(() => null)
      .then(() => setSessionUser(null))
  }, [])
  return () => reset.current ?? Promise.resolve()
}
