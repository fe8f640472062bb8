import type { ClientConnection } from './connection.ts'
import type { LoginFault } from './plane.ts'
import type { TooMany } from './connection-limits.ts'
import { parseBasic } from './request-head.ts'

/** Authorises each request of a connection. Valid credentials are not decoded again while the lease is current. */
export class Login {
  #good: string | null = null

  /** Assigns the connection to the user. A change of lease or session drops the target: exit address and rules may differ. */
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
