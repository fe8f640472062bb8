import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { fleet, inventory } from '../../api/routes.ts'

// The limits that the specification gives for each picker.
const SERVERS = 250
const GROUPS = 10_000

const optionsOf = (rows: readonly { id: number; name: string }[] | undefined) =>
  (rows ?? []).map(({ id, name }) => ({ value: String(id), label: name }))

export const useServers = () => optionsOf(useQuery(read(fleet.serverNames, { query: { limit: SERVERS } })).data?.data)
export const useServerGroups = () => optionsOf(useQuery(read(fleet.groups, { query: { limit: GROUPS } })).data?.data)
/** ACL groups. */
export const useRuleGroups = () => optionsOf(useQuery(read(inventory.groups, { query: { limit: GROUPS } })).data?.data)
