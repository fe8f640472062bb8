import { type AgentSettingName, readSetting } from '@netlet/contract/agent-settings'
import { makePrefix, parsePrefix, parsePrefixes } from '@netlet/contract/prefixes'
import { isWithin } from '../proofs/index.ts'

/** Who, besides its own machine, may reach an agent's management API; empty: anyone. */
export const CLIENT_LIST: AgentSettingName = 'AGENT_ALLOW_CLIENTS'

/**
 * Whether this list would keep the console out. Agents always accept connections from their own machine.
 * @param address where the console comes from; '' or null: unknown
 */
export function shutsOut(list: string, address: string | null): boolean {
  if (list === '' || !address || isWithin(address, ['127.0.0.0/8', '::1/128'])) return false
  const read = parsePrefixes(list.split(','))
  return (
    read.ok &&
    !isWithin(
      address,
      read.prefixes.map(prefix => prefix.text)
    )
  )
}

/**
 * The settings of a first installation: only the console may reach the management API. Nothing is added if the
 * console's address is unknown or local, or if the settings have a list.
 * @param address where the console logged in from. Of IPv6 its /64 network is used, because the rest may change daily.
 * @param others addresses of its other machines, if it has some
 */
export function closedToOthers(
  settings: Readonly<Record<string, string>>,
  address: string,
  others: readonly string[]
): Readonly<Record<string, string>> {
  if (CLIENT_LIST in settings || address === '' || isWithin(address, ['127.0.0.0/8', '::1/128'])) return settings
  const list = readSetting(CLIENT_LIST, [networkOf(address), ...others].join(','))
  return list.ok ? { ...settings, [CLIENT_LIST]: list.value } : settings
}

/** An IPv4 address as it is, or the /64 network of an IPv6 address. */
function networkOf(address: string): string {
  const read = parsePrefix(address)
  const network = read?.family === 6 ? makePrefix(6, (read.first >> 64n) << 64n, 64) : null
  return network?.text ?? address
}
