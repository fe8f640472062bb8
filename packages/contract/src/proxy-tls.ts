// A server's TLS for proxy clients (`https://` proxies): settings, result, and a check from outside.

import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { formVersion, IdParams, ReasonParams, Time } from './shapes.ts'

/** The agent's TLS towards proxy clients: the console's request and the agent's report. Node only. */

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

/** `unset`: the server decides. `none`: no TLS. `pasted`: stored here. `files`: maintained on the server. */
export const PROXY_TLS_SOURCES = ['none', 'pasted', 'files'] as const
export type ProxyTlsSource = (typeof PROXY_TLS_SOURCES)[number]

/** A certificate's names and issuer. */
const CertificateSeen = z.object({
  names: z.array(z.string()),
  issuer: z.string(),
  begins_at: Time,
  /** When the first certificate of its chain ends. */
  ends_at: Time,
  fingerprint: z.string()
})
export type CertificateSeen = z.infer<typeof CertificateSeen>

export const ProxyTls = z.object({
  source: z.enum(['unset', ...PROXY_TLS_SOURCES]),
  /** The stored certificate. Its key is never returned. Null: none is stored. */
  certificate: CertificateSeen.nullable(),
  /** Paths on the server; '' if not used. */
  certificate_file: z.string(),
  key_file: z.string(),
  /** `waiting`: not sent to the agent yet. `refused`: the agent did not accept it; retried with each repair. */
  state: z.enum(['unset', 'waiting', 'applied', 'refused']),
  /** Why it was refused. */
  reason: z.string().nullable(),
  params: ReasonParams,
  msg: z.string().nullable(),
  /** The certificate that clients see, as the agent last reported; null: no TLS, or the agent reports no names. */
  shown: z.object({ names: z.array(z.string()), ends_at: Time, days_left: z.number() }).nullable(),
  /** The proxy port. It serves both plain and TLS connections. */
  port: z.number(),
  version: z.string()
})
export type ProxyTls = z.infer<typeof ProxyTls>

const path = z
  .string()
  .trim()
  .max(1000)
  .regex(/^(\/[^\p{Cc}\p{Cs}]*)?$/u, message('must_be_path'))
  .default('')

export const ProxyTlsForm = z
  .object({
    source: z.enum(PROXY_TLS_SOURCES),
    /** PEM: the certificate, then its chain. */
    certificate: z.string().trim().max(100_000).default(''),
    /** PEM; empty keeps the stored one. */
    key: z.string().trim().max(20_000).default(''),
    certificate_file: path,
    key_file: path
  })
  .extend(formVersion)
export type ProxyTlsForm = z.output<typeof ProxyTlsForm>

/**
 * Results of the check from outside. `unresolved`: the name does not resolve. `leads_elsewhere`: not only to the
 * address of a proxy. `not_listening`: no connection. `no_tls`: the reply is not TLS. The others concern the
 * certificate.
 */
export const PROXY_TLS_FINDINGS = [
  'no_address',
  'no_names',
  'unresolved',
  'leads_elsewhere',
  'not_listening',
  'no_tls',
  'not_begun',
  'expired',
  'wrong_name',
  'untrusted'
] as const
export type ProxyTlsFinding = (typeof PROXY_TLS_FINDINGS)[number]

export const ProxyTlsCheck = z.object({
  /** The proxy that was checked; '' if there is none. */
  address: z.string(),
  port: z.number(),
  host: z.string(),
  /** The addresses of that name. */
  leads: z.array(z.string()),
  findings: z.array(z.enum(PROXY_TLS_FINDINGS)),
  /** The certificate that was seen. */
  seen: CertificateSeen.nullable()
})
export type ProxyTlsCheck = z.infer<typeof ProxyTlsCheck>

const tls = '/api/servers/servers/:id/proxy_tls'

export const proxyTlsRoutes = {
  proxyTls: route('GET', `${tls}/`, {
    summary: "A server's TLS for proxies: setting and state",
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    reply: ProxyTls
  }),
  setProxyTls: route('PUT', `${tls}/`, {
    summary: "Set a server's TLS for proxies; its agent applies it without a restart",
    access: 'admin',
    permission: 'servers.change',
    needsConfirmation: { asks: form => form.key !== '' },
    params: IdParams,
    body: ProxyTlsForm,
    reply: ProxyTls
  }),
  checkProxyTls: route('POST', `${tls}/check/`, {
    summary: "Test a TLS connection to a server's proxy",
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: ProxyTlsCheck
  })
}
