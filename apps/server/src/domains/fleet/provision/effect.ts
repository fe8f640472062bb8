// What an installation would do on a server, as far as it is known before.
import type { TunnelEffect } from '@netlet/contract'
import { type AgentSettingName, readSetting } from '@netlet/contract/agent-settings'
import { makePrefix, parsePrefix, parsePrefixes } from '@netlet/contract/prefixes'
import { isWithin } from '../proofs/samples.ts'
import { contentOf } from './machine.ts'
import { layoutOf, unitOf } from './layout.ts'

/** Who reaches the management of an agent besides its own machine; empty: everybody. */
export const CLIENT_LIST: AgentSettingName = 'AGENT_ALLOW_CLIENTS'

/**
 * Would this list keep the console out? Agents always take connections of their own machine.
 * @param address where the console comes from; '' or null: nobody knows
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
 * What a first installation begins with: the management is open to the console alone. Where nobody knows from where that logged
 * in, it was from the machine itself, or a list is given, nothing is added.
 * @param address where the console logged in from. Of IPv6 its network of 64 bits: the rest may change with the day.
 * @param others what its other machines, if it has some, come from
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

/** An IPv4 address as it is, an IPv6 one's network of 64 bits. */
function networkOf(address: string): string {
  const read = parsePrefix(address)
  const network = read?.family === 6 ? makePrefix(6, (read.first >> 64n) << 64n, 64) : null
  return network?.text ?? address
}

/** How an agent is kept, as the server's row has it. @param digest of its service file, by SHA-256 */
export const serviceOf = (systemd: boolean, digest: string): string => `${systemd ? 'systemd' : 'alone'}:${digest}`

/**
 * What becomes of the open tunnels. An agent hands over where it can, runs under systemd and keeps its service file.
 * @param service as the last installation left it; null: nobody has looked
 * @param handsOver can its program hand over? Null: it was not asked
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
