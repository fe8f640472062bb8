import type { AgentReport, Params, Reason } from '@netlet/contract'
import { isFromSources } from '@netlet/contract/agent-version'
import { isInstalling } from '../list-servers.ts'
import type { ServerRow } from '../server-row.ts'

export type Told = Partial<Pick<AgentReport, 'at' | 'connections' | 'hands_over'>>
/** A server, with the version and state that its agent last reported; null: none. */
export type Candidate = { server: ServerRow; version: string | null; told: Told | null }
export type Why = { reason: Reason; params: Params }

const why = (reason: Reason, params: Params = {}): Why => ({ reason, params })

/** Why a server is left out of an upgrade to this version; null: it is not. */
export function leftOut({ server, version }: Candidate, to: string): Why | null {
  if (server.deletedAt !== null) return why('not_found')
  if (server.status === 'given_up') return why('server_given_up')
  if (server.status === 'returning') return why('server_returning')
  if (server.status === 'paused') return why('upgrade_paused')
  if (isInstalling(server)) return why('server_installing')
  if (server.trouble === 'foreign_console') return why('upgrade_foreign')
  if (server.trouble === 'older_console') return why('upgrade_unapproved')
  if (server.sshPassword === null) return why('upgrade_no_login')
  // An upgrade is not needed to find out that it does not answer.
  if (!server.connected) return why('upgrade_no_answer')
  const isCurrent = version === to || (version !== null && isFromSources(version))
  return isCurrent ? why('upgrade_not_needed') : null
}
