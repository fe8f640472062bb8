// What an installation would do on a server, as far as it is known before.
import type { TunnelEffect } from '@netlet/contract'
import type { AgentSettingName } from '@netlet/contract/agent-settings'
import { parsePrefixes } from '@netlet/contract/prefixes'
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
