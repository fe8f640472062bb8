/** The agent's TLS towards proxy clients: the console's request and the agent's report. Node only. */
import { createHash } from 'node:crypto'
import { z } from 'zod'

/** Largest length in characters of a certificate chain, and of a key. */
export const MOST_CHAIN = 100_000
export const MOST_KEY = 20_000

const file = z
  .string()
  .max(1000)
  .regex(/^\/[^\p{Cc}\p{Cs}]*$/u)

/**
 * Body of `PUT /api/proxy-tls`, the complete configuration. `pasted`: chain and key as PEM. `files`: paths on the
 * agent's machine, reloaded when they change. Older agents answer 404.
 */
export const agentProxyTls = z.discriminatedUnion('source', [
  z.object({ source: z.literal('none') }),
  z.object({
    source: z.literal('pasted'),
    certificate: z.string().min(1).max(MOST_CHAIN),
    key: z.string().min(1).max(MOST_KEY)
  }),
  z.object({ source: z.literal('files'), certificate: file, key: file })
])
export type AgentProxyTls = z.infer<typeof agentProxyTls>

/** A hash of the configuration, key included. */
export const proxyTlsHash = (wanted: AgentProxyTls): string =>
  createHash('sha256')
    .update(JSON.stringify(wanted.source === 'none' ? [] : [wanted.source, wanted.certificate, wanted.key]))
    .digest('hex')

/**
 * What an agent has, in `GET /api/state` and as the call's reply. `environment`: PROXY_TLS_CERT is set and the call is
 * refused. `hash`: of the last request; null: none. `fault`: why no certificate is served although one is configured.
 */
export const agentProxyTlsState = z.object({
  source: z.enum(['none', 'environment', 'pasted', 'files']),
  hash: z.string().max(64).nullable(),
  fault: z.string().max(1000).nullable()
})
export type AgentProxyTlsState = z.infer<typeof agentProxyTlsState>

/** Largest number of names reported from a certificate. */
export const MOST_NAMES = 100

/**
 * A certificate's host names and addresses. The common name is ignored, as clients ignore it.
 * @param subjectAltName in Node's format: 'DNS:a.example, IP Address:203.0.113.7'
 */
export const certificateNames = (subjectAltName: string | undefined): string[] =>
  (subjectAltName ?? '')
    .split(', ')
    .flatMap(part => /^(?:DNS|IP Address):([!#-~]{1,255})$/.exec(part)?.[1] ?? [])
    .slice(0, MOST_NAMES)
