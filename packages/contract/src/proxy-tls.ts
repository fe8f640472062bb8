// The TLS that a server speaks to proxy clients (`https://` proxies): what operators set, what came of it, and what a look from outside saw.
import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { formVersion, IdParams, ReasonParams, Time } from './shapes.ts'

/** `unset`: the console leaves it to the server. `none`: no TLS. `pasted`: saved here. `files`: kept on the server by something else. */
export const PROXY_TLS_SOURCES = ['none', 'pasted', 'files'] as const
export type ProxyTlsSource = (typeof PROXY_TLS_SOURCES)[number]

/** What can be told of a certificate: whom it names, by whom it was signed. */
const CertificateSeen = z.object({
  names: z.array(z.string()),
  issuer: z.string(),
  begins_at: Time,
  /** When the first one of its chain ends. */
  ends_at: Time,
  fingerprint: z.string()
})
export type CertificateSeen = z.infer<typeof CertificateSeen>

export const ProxyTls = z.object({
  source: z.enum(['unset', ...PROXY_TLS_SOURCES]),
  /** The saved certificate; its key is told to nobody. Null: none is saved here. */
  certificate: CertificateSeen.nullable(),
  /** Paths on the server; '' where it keeps none. */
  certificate_file: z.string(),
  key_file: z.string(),
  /** `waiting`: the agent has not been told yet. `refused`: it did not take it, and is asked again with each repair. */
  state: z.enum(['unset', 'waiting', 'applied', 'refused']),
  /** Why it was refused. */
  reason: z.string().nullable(),
  params: ReasonParams,
  msg: z.string().nullable(),
  /** What clients are shown, as the agent told last; null: no TLS, or an agent that tells no names. */
  shown: z.object({ names: z.array(z.string()), ends_at: Time, days_left: z.number() }).nullable(),
  /** The port of all proxies: those that begin with TLS are answered so. */
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
    /** PEM: the certificate, then what signed it. */
    certificate: z.string().trim().max(100_000).default(''),
    /** PEM; empty leaves the stored one. */
    key: z.string().trim().max(20_000).default(''),
    certificate_file: path,
    key_file: path
  })
  .extend(formVersion)
export type ProxyTlsForm = z.output<typeof ProxyTlsForm>

/**
 * What a look from outside may find. `unresolved`: the name leads nowhere. `leads_elsewhere`: not to the address of a proxy alone.
 * `not_listening`: no connection. `no_tls`: something else than TLS answers. The others are of the certificate.
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
  /** The proxy that was dialled, by which name; '' where there is none. */
  address: z.string(),
  port: z.number(),
  host: z.string(),
  /** Where that name leads. */
  leads: z.array(z.string()),
  findings: z.array(z.enum(PROXY_TLS_FINDINGS)),
  /** What was shown. */
  seen: CertificateSeen.nullable()
})
export type ProxyTlsCheck = z.infer<typeof ProxyTlsCheck>

const tls = '/api/servers/servers/:id/proxy_tls'

export const proxyTlsRoutes = {
  proxyTls: route('GET', `${tls}/`, {
    summary: 'The TLS of a server to proxy clients: what is set, and what came of it',
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    reply: ProxyTls
  }),
  setProxyTls: route('PUT', `${tls}/`, {
    summary: 'Set the TLS of a server to proxy clients; its agent takes it without a restart',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: ProxyTlsForm,
    reply: ProxyTls
  }),
  checkProxyTls: route('POST', `${tls}/check/`, {
    summary: 'Connect to a proxy of a server by TLS, and say what was seen',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: ProxyTlsCheck
  })
}
