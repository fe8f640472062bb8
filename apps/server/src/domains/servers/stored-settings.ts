import type { Params, Reason } from '@netlet/contract'
import type { AgentProxyTls } from '@netlet/contract/proxy-tls'
import type { Secrets } from '../../infra/secrets.ts'

/** The TLS that the console wants for a server's proxy clients. A pasted key is sealed (infra/secrets), in base64. */
export type WantedTls = AgentProxyTls

/** Stored among the settings of a server's agent, under a name that no setting has. */
export type KeptTls = {
  wanted: WantedTls
  /** Identifies this wish, including its key. The agent reports the hash of what it holds. */
  hash: string
  /** The result of the last wish that was sent to the agent. */
  sent?: { hash: string; refusal: { reason: Reason; params: Params } | null }
  /** Where host names of the shown certificate lead, as last looked up. */
  leads?: Record<string, string[]>
}

const NAME = 'proxy_tls'

/** The column: settings by name, and the TLS. */
export type KeptSettings = { [name: string]: string | KeptTls }

/** The settings that are lines of the agent's environment. */
export const settingsOf = ({ agentSettings }: { agentSettings: KeptSettings }): Record<string, string> =>
  Object.fromEntries(
    Object.entries(agentSettings).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  )

/** Null: the console does not manage this server's TLS. */
export function tlsOf({ agentSettings }: { agentSettings: KeptSettings }): KeptTls | null {
  const kept = agentSettings[NAME]
  return kept === undefined || typeof kept === 'string' ? null : kept
}

/** The column with other settings. */
export const withSettings = (row: { agentSettings: KeptSettings }, settings: Record<string, string>): KeptSettings => {
  const tls = tlsOf(row)
  return tls ? { ...settings, [NAME]: tls } : settings
}

/** The column with another TLS. */
export const withTls = (row: { agentSettings: KeptSettings }, tls: KeptTls): KeptSettings => ({
  ...settingsOf(row),
  [NAME]: tls
})

/** As it is sent. @throws if the key was sealed with another APP_SECRET */
export function openTls({ wanted }: KeptTls, secrets: Secrets): AgentProxyTls {
  return wanted.source === 'pasted' ? { ...wanted, key: secrets.open(Buffer.from(wanted.key, 'base64')) } : wanted
}

/** The column with its key sealed with the present APP_SECRET; null if it is or there is none. */
export function resealedTls(agentSettings: KeptSettings, again: Secrets['resealed']): KeptSettings | null {
  const tls = tlsOf({ agentSettings })
  if (tls?.wanted.source !== 'pasted') return null
  const key = again(Buffer.from(tls.wanted.key, 'base64'))?.toString('base64')
  return key === undefined ? null : withTls({ agentSettings }, { ...tls, wanted: { ...tls.wanted, key } })
}

export function sealed(wanted: AgentProxyTls, secrets: Secrets): WantedTls {
  return wanted.source === 'pasted' ? { ...wanted, key: secrets.seal(wanted.key).toString('base64') } : wanted
}
