import type { TunnelEffect } from '@netlet/contract'
import { contentOf } from './machine.ts'
import { layoutOf, unitOf } from './layout.ts'

/** How an agent is kept, as the server's row stores it. @param digest SHA-256 of its service file */
export const serviceFingerprint = (systemd: boolean, digest: string): string =>
  `${systemd ? 'systemd' : 'alone'}:${digest}`

/**
 * What happens to the open tunnels. An agent hands them over if it can, runs under systemd and keeps its service file.
 * @param service as the last installation left it; null: unknown
 * @param handsOver whether its program can hand over; null: unknown
 * @param settingsOnly the program and its service file stay
 */
export function tunnelEffect(
  { service, handsOver }: { service: string | null; handsOver: boolean | null },
  { settingsOnly = false } = {}
): TunnelEffect {
  if (handsOver === false || service?.startsWith('alone:')) return 'restarts'
  if (service === null || handsOver === null) return 'unknown'
  return settingsOnly || service === serviceFingerprint(true, contentOf(unitOf(layoutOf(''))).sha256)
    ? 'hands_over'
    : 'restarts'
}
