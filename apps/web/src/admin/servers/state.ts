import type { Server } from '@netlet/contract'
import en from '../../i18n/admin.en.json'
import type { Key } from '../../i18n/admin.ts'
import type { Tone } from '../../kit/state-badge.tsx'
import type { T } from '../kit/index.ts'

/** What an operator, or its silence, made of a server. */
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

/** Its installation was not cancelled: what it is done with stays as it is. */
export const isInstalling = (server: Server) => installs(server) && !server.provisioning?.cancelling

/** Somebody has to look at it. */
export const needsAttention = (server: Server): boolean =>
  !isOver(server) &&
  (server.server_status === 0 ||
    server.trouble !== null ||
    server.failing_since !== null ||
    server.refused_ranges.length > 0 ||
    (server.agent?.problems ?? []).length > 0 ||
    server.provisioning?.status === 'failed')

/** It will look otherwise soon, by itself. */
export const isChanging = (server: Server): boolean =>
  installs(server) || server.status === 'draining' || server.status === 'returning' || server.step === 'behind'

/** What keeps its agent from holding what is wanted, in the chosen language; one of a newer server in English. */
export function troubleText(t: T, { trouble, last_error }: Server): string | null {
  const key = `servers.trouble.${trouble?.code ?? ''}`
  return trouble && key in en ? t(key as Key, trouble.params) : last_error
}

/** What its agent finds wrong with itself, in the chosen language; what only a newer one knows by its code. */
export const problemTexts = (t: T, { agent }: Server): string[] =>
  (agent?.problems ?? []).map(code => {
    const key = `servers.problem.${code}`
    return key in en ? t(key as Key) : code
  })
