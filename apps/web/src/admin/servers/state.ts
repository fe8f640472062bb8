import type { Server } from '@netlet/contract'
import en from '../../i18n/admin.en.json'
import type { Key } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import type { Tone } from '../../kit/state-badge.tsx'
import type { T } from '../kit/index.ts'

/** What an operator, or its silence, made of a server. */
export function stateOf({ status, sells }: Server): { key: Key; tone: Tone } {
  if (status === 'active')
    return sells ? { key: 'servers.is.selling', tone: 'good' } : { key: 'servers.is.offline', tone: 'bad' }
  const tones = { paused: 'wait', draining: 'busy', given_up: 'off', returning: 'busy' } as const
  return { key: `servers.is.${status}`, tone: tones[status] }
}

const isOver = (server: Server) => server.status === 'given_up'
export const installs = (server: Server) => server.provisioning?.status === 'running'

/** Its installation was not cancelled: what it is done with stays as it is. */
export const isInstalling = (server: Server) => installs(server) && !server.provisioning?.cancelling

/** Somebody has to look at it. */
export const needsAttention = (server: Server): boolean =>
  !isOver(server) &&
  (server.server_status === 0 ||
    server.trouble !== null ||
    server.failing_since !== null ||
    server.refused_ranges.length > 0 ||
    server.provisioning?.status === 'failed')

/** It will look otherwise soon, by itself. */
export const isChanging = (server: Server): boolean =>
  installs(server) || server.status === 'draining' || server.status === 'returning' || server.step === 'behind'

/** What keeps its agent from holding what is wanted, in the chosen language; one of a newer server in English. */
export function troubleText(t: T, { trouble, last_error }: Server): string | null {
  const key = `servers.trouble.${trouble?.code ?? ''}`
  return trouble && key in en ? t(key as Key, trouble.params) : last_error
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** 1536 is '1.5 kB'. */
export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${numberText(value, { maximumFractionDigits: value < 10 && unit > 0 ? 1 : 0 })} ${UNITS[unit]}`
}
