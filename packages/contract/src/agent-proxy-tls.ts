/** The TLS that an agent speaks to proxy clients: what the console sends, and what the agent tells. For Node only. */
import { createHash } from 'node:crypto'
import { z } from 'zod'

/** Characters: a chain of certificates, and a key. */
export const MOST_CHAIN = 100_000
export const MOST_KEY = 20_000

const file = z
  .string()
  .max(1000)
  .regex(/^\/[^\p{Cc}\p{Cs}]*$/u)

/**
 * Body of `PUT /api/proxy-tls`, the whole of what is wanted. `none`: no TLS. `pasted`: chain and key as PEM. `files`: paths on the
 * agent's machine, which are read again when they change. Agents of before this call answer 404.
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

/** Names exactly this wish, its key included. */
export const proxyTlsHash = (wanted: AgentProxyTls): string =>
  createHash('sha256')
    .update(JSON.stringify(wanted.source === 'none' ? [] : [wanted.source, wanted.certificate, wanted.key]))
    .digest('hex')

/**
 * What an agent holds, in `GET /api/state` and as the reply of the call. `environment`: PROXY_TLS_CERT decides, and the call is
 * refused. `hash`: of what it was sent last; null: nothing yet. `fault`: why nothing is shown although it should be.
 */
export const agentProxyTlsState = z.object({
  source: z.enum(['none', 'environment', 'pasted', 'files']),
  hash: z.string().max(64).nullable(),
  fault: z.string().max(1000).nullable()
})
export type AgentProxyTlsState = z.infer<typeof agentProxyTlsState>

/** The most names of a certificate that are told. */
export const MOST_NAMES = 100

/**
 * Host names and addresses that a certificate is for. Its common name counts for nothing, as it does for clients.
 * @param subjectAltName as Node words it: 'DNS:a.example, IP Address:203.0.113.7'
 */
export const certificateNames = (subjectAltName: string | undefined): string[] =>
  (subjectAltName ?? '')
    .split(', ')
    .flatMap(part => /^(?:DNS|IP Address):([!#-~]{1,255})$/.exec(part)?.[1] ?? [])
    .slice(0, MOST_NAMES)
