// What an installation would do on a server, as far as it is known in advance.
import type { TunnelEffect } from '@netlet/contract'
import { type AgentSettingName, readSetting } from '@netlet/contract/agent-settings'
import { makePrefix, parsePrefix, parsePrefixes } from '@netlet/contract/prefixes'
import { isWithin } from '../proofs/index.ts'
import { contentOf } from './machine.ts'
import { layoutOf, unitOf } from './layout.ts'

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

/** How an agent is kept, as the server's row stores it. @param digest SHA-256 of its service file */
export const serviceOf = (systemd: boolean, digest: string): string => `${systemd ? 'systemd' : 'alone'}:${digest}`

/**
 * What happens to the open tunnels. An agent hands them over if it can, runs under systemd and keeps its service file.
 * @param service as the last installation left it; null: unknown
 * @param handsOver whether its program can hand over; null: unknown
 * @param settingsOnly the program and its service file stay
 */
export function effectOn(
  { service, handsOver }: { service: string | null; handsOver: boolean | null },
  { settingsOnly = false } = {}
): TunnelEffect {
  if (handsOver === false || service?.startsWith('alone:')) return 'restarts'
  if (service === null || handsOver === null) return 'unknown'
  return settingsOnly || service === serviceOf(true, contentOf(unitOf(layoutOf(''))).sha256) ? 'hands_over' : 'restarts'
}
