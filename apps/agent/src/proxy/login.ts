import type { ClientConnection } from './connection.ts'
import { parseBasic } from './request-head.ts'

/** Authorises each request of a connection; credentials that were good are not decoded again while the lease stands. */
export class Login {
  #good: string | null = null

  /** Makes the connection the user's. A connection that changes its lease loses its target: rules may be others now. */
  check(connection: ClientConnection, credentials: string): 'ok' | 'no-auth' | 'too-many' | 'too-many-failures' {
    const { plane, lease: present } = connection
    if (present !== null && credentials === this.#good && plane.accessTable.lease(present.user) === present) return 'ok'
    const given = parseBasic(credentials)
    const lease = plane.logIn(connection, given?.user ?? '', given?.password ?? '')
    this.#good = null
    if (typeof lease === 'string') return lease
    if (lease !== present) connection.dropRemote()
    if (!connection.acquireSlot(lease)) return 'too-many'
    this.#good = credentials
    return 'ok'
  }
}
