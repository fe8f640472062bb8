import type { AgentCode } from '@netlet/contract/agent-codes'
import type { ClientConnection } from './connection.ts'
import type { TooMany } from './connection-limits.ts'
import type { LoginFault } from './plane.ts'
import type { RequestHead } from './request-head.ts'

/** What an HTTP client reads if its login or its next connection is refused. */
export const REFUSALS: Record<LoginFault | TooMany, readonly [status: number, text: string]> = {
  'no-auth': [407, 'Enter the username and password of this proxy'],
  'ambiguous-client': [407, 'Several users of this IP allow this client. Enter the username and password'],
  'no-session': [403, 'This plan has no sessions. Remove -session-NAME from the username'],
  'bad-session': [403, 'A session name has 1 to 32 letters, digits or underscores'],
  'too-many-failures': [429, 'Too many wrong passwords from this client'],
  'too-many': [429, 'Too many connections for this user'],
  'too-many-address': [429, 'Too many connections through this IP'],
  'too-many-client': [429, 'Too many connections from this client'],
  'too-fast': [429, 'Too many new connections per second for this user'],
  'too-fast-address': [429, 'Too many new connections per second through this IP'],
  'too-fast-client': [429, 'Too many new connections per second from this client']
}

/** The line of the access log for the present request. */
export class RequestLine {
  head: RequestHead | null = null
  /** 0: no bytes of a request have come. */
  startedAt = 0
  up = 0
  down = 0

  write(connection: ClientConnection, status: number, note: AgentCode): void {
    const { head, startedAt, up, down } = this
    connection.countRequest(note)
    const ms = startedAt === 0 ? 0 : Math.round(performance.now() - startedAt)
    connection.log({ what: head?.method ?? '-', target: head?.to.key ?? '-', status, up, down, ms, note })
    this.head = null
    this.startedAt = 0
  }
}
