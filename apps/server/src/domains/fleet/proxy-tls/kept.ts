import type { Params, Reason } from '@netlet/contract'
import type { AgentProxyTls } from '@netlet/contract/agent-proxy-tls'
import type { Secrets } from '../../../infra/secrets.ts'

/** What the console wants of a server's TLS to proxy clients. A pasted key is sealed (infra/secrets), in base64. */
export type WantedTls = AgentProxyTls

/** Kept among the settings of a server's agent, under a name that no setting has. */
export type KeptTls = {
  wanted: WantedTls
  /** Names exactly this wish, its key included: what the agent tells that it holds. */
  hash: string
  /** What came of the last wish that its agent was told. */
  sent?: { hash: string; refusal: { reason: Reason; params: Params } | null }
  /** Where host names of the shown certificate lead, as they were looked up last. */
  leads?: Record<string, string[]>
}

const NAME = 'proxy_tls'

/** The column: texts of settings by name, and the TLS. */
export type KeptSettings = { [name: string]: string | KeptTls }

/** The settings that are lines of the agent's environment. */
export const settingsOf = ({ agentSettings }: { agentSettings: KeptSettings }): Record<string, string> =>
  Object.fromEntries(
    Object.entries(agentSettings).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  )

/** Null: the console leaves the TLS of this server to whoever set it there. */
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

/** As it is sent. @throws where the key was sealed with another APP_SECRET */
export function opened({ wanted }: KeptTls, secrets: Secrets): AgentProxyTls {
  return wanted.source === 'pasted' ? { ...wanted, key: secrets.open(Buffer.from(wanted.key, 'base64')) } : wanted
}

export function sealed(wanted: AgentProxyTls, secrets: Secrets): WantedTls {
  return wanted.source === 'pasted' ? { ...wanted, key: secrets.seal(wanted.key).toString('base64') } : wanted
}
