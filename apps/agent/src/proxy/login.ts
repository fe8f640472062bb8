import type { ClientConnection } from './connection.ts'
import type { LoginFault } from './plane.ts'
import type { TooMany } from './connection-limits.ts'
import { parseBasic } from './request-head.ts'

/** Authorises each request of a connection; credentials that were good are not decoded again while the lease stands. */
export class Login {
  #good: string | null = null

  /** Makes the connection the user's. A connection that changes its lease or session loses its target: it may leave from
   * elsewhere, under other rules. */
  check(connection: ClientConnection, credentials: string): 'ok' | LoginFault | TooMany {
    const { plane, lease: present } = connection
    if (present !== null && credentials === this.#good && plane.accessTable.lease(present.user) === present) return 'ok'
    const given = parseBasic(credentials)
    const loggedIn = plane.logIn(connection, given?.user ?? '', given?.password ?? '')
    this.#good = null
    if (typeof loggedIn === 'string') return loggedIn
    if (loggedIn.lease !== present || loggedIn.session !== connection.session) connection.dropRemote()
    const refused = connection.acquireSlot(loggedIn)
    if (refused !== null) return refused
    this.#good = credentials
    return 'ok'
  }
}
