import type { Server } from '@netlet/contract'
import en from '../../i18n/admin.en.json'
import type { Key } from '../../i18n/admin.ts'
import type { Tone } from '../../kit/state-badge.tsx'
import type { T } from '../kit/index.ts'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { fleet, inventory } from '../../api/routes.ts'

/** The server's state, set by an operator or by its silence. */
export function stateOf({ status, sells, server_status }: Server): { key: Key; tone: Tone } {
  if (status === 'active') {
    if (sells) return { key: 'servers.is.selling', tone: 'good' }
    return { key: server_status === 0 ? 'servers.is.offline' : 'servers.is.unserved', tone: 'bad' }
  }
  const tones = { paused: 'wait', draining: 'busy', given_up: 'off', returning: 'busy' } as const
  return { key: `servers.is.${status}`, tone: tones[status] }
}

const isOver = (server: Server) => server.status === 'given_up'
export const installs = (server: Server) => server.provisioning?.status === 'running'

/** An installation is running and was not cancelled, so actions that conflict with it stay unavailable. */
export const isInstalling = (server: Server) => installs(server) && !server.provisioning?.cancelling

export const needsAttention = (server: Server): boolean =>
  !isOver(server) &&
  (server.server_status === 0 ||
    server.trouble !== null ||
    server.failing_since !== null ||
    server.refused_ranges.length > 0 ||
    (server.agent?.problems ?? []).length > 0 ||
    server.provisioning?.status === 'failed')

/** Will change by itself soon. */
export const isChanging = (server: Server): boolean =>
  installs(server) || server.status === 'draining' || server.status === 'returning' || server.step === 'behind'

/** Why its agent is not up to date, in the current language; English for codes of newer servers. */
export function troubleText(t: T, { trouble, last_error }: Server): string | null {
  const key = `servers.trouble.${trouble?.code ?? ''}`
  return trouble && key in en ? t(key as Key, trouble.params) : last_error
}

/** Problems that the agent reports, in the current language; codes of newer agents unchanged. */
export const problemTexts = (t: T, { agent }: Server): string[] =>
  (agent?.problems ?? []).map(code => {
    const key = `servers.problem.${code}`
    return key in en ? t(key as Key) : code
  })

// The limits that the specification gives for each picker.
const SERVERS = 250
const GROUPS = 10_000

const optionsOf = (rows: readonly { id: number; name: string }[] | undefined) =>
  (rows ?? []).map(({ id, name }) => ({ value: String(id), label: name }))

export const useServers = () => optionsOf(useQuery(read(fleet.serverNames, { query: { limit: SERVERS } })).data?.data)
export const useServerGroups = () => optionsOf(useQuery(read(fleet.groups, { query: { limit: GROUPS } })).data?.data)
/** ACL groups. */
export const useRuleGroups = () => optionsOf(useQuery(read(inventory.groups, { query: { limit: GROUPS } })).data?.data)
