import { proxyTlsHash } from '@netlet/contract/agent-hashes'
import { type KeyObject, X509Certificate, createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { type Socket, connect as connectTcp, isIP } from 'node:net'
import { type DetailedPeerCertificate, type TLSSocket, checkServerIdentity, connect } from 'node:tls'
import {
  type CertificateSeen,
  type Params,
  type ProxyTls,
  type ProxyTlsCheck,
  type ProxyTlsFinding,
  type ProxyTlsForm,
  type Reason,
  type Refusal,
  fillIn,
  refusals,
  refuse
} from '@netlet/contract'
import { type AgentProxyTls, certificateNames } from '@netlet/contract/proxy-tls'
import type { Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { eq } from '../../infra/db/drizzle.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { type Result, ok } from '../../infra/result.ts'
import type { Secrets } from '../../infra/secrets.ts'
import { staleEdit, versionOf } from '../../infra/version.ts'
import {
  type KeptTls,
  type ServerRow,
  type SyncContext,
  certificatesIn,
  daysLeft,
  enqueueConverge,
  firstAddressOf,
  isCertificates,
  lockServer,
  openTls,
  readServerRow,
  saveAgentSettings,
  sealed,
  tlsOf,
  withTls
} from '../servers/index.ts'
import { serverReports } from '../servers/tables.ts'
import { createLookUp, resolveProxyNames } from './proxy-names.ts'
import { isInClear } from './send-tls.ts'
import { httpsHost, readOffer } from './tls-offer.ts'

/** A summary of a chain, the server's certificate first. */
function seenOf(chain: readonly X509Certificate[]): CertificateSeen | null {
  const [first] = chain
  if (!first) return null
  const ends = chain.map(({ validToDate }) => validToDate.getTime())
  return {
    names: certificateNames(first.subjectAltName),
    issuer: first.issuer.replaceAll('\n', ', '),
    begins_at: iso(first.validFromDate),
    ends_at: iso(new Date(Math.min(...ends))),
    fingerprint: first.fingerprint256
  }
}

/** The same for a stored chain. */
export const describeChain = (chain: string): CertificateSeen | null => seenOf(certificatesIn(chain))

const dayOf = (at: Date): string => iso(at).slice(0, 10)

const refused = (field: 'certificate' | 'key', reason: Reason, params: Params = {}): Refusal =>
  fieldRefusal(field, reason, params)

/**
 * Checks what an operator pasted: a chain in its order that has not expired and names a host, and its key.
 * @param chain PEM of certificates and nothing else
 */
export function checkPair(chain: string, key: string, now: Date): Result<null> {
  if (!isCertificates(chain)) return refused('certificate', 'tls_chain_unreadable')
  const certificates = certificatesIn(chain)
  const [first] = certificates
  if (!first) return refuse('tls_chain_unreadable')
  for (const [at, certificate] of certificates.entries()) {
    const next = certificates[at + 1]
    if (next && !certificate.checkIssued(next)) return refused('certificate', 'tls_chain_order', { number: at + 1 })
    const { validFromDate: begins, validToDate: ends } = certificate
    if (begins > now || ends <= now)
      return refused('certificate', 'tls_not_valid', { number: at + 1, begins: dayOf(begins), ends: dayOf(ends) })
  }
  if (certificateNames(first.subjectAltName).length === 0) return refused('certificate', 'tls_no_names')
  const read = readKey(key)
  if (!read) return refused('key', 'tls_key_unreadable')
  return first.checkPrivateKey(read) ? ok(null) : refused('key', 'tls_key_mismatch')
}

function readKey(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem)
  } catch {
    return null
  }
}

export async function readProxyTls(db: Executor, id: number, now: Date): Promise<Result<ProxyTls>> {
  const row = await readServerRow(db, id)
  return row ? ok(await present(db, row, now)) : refuse('not_found')
}

async function present(db: Executor, row: ServerRow, now: Date): Promise<ProxyTls> {
  const [told] = await db.select().from(serverReports).where(eq(serverReports.serverId, row.id))
  const { proxy = null, proxy_names: names = [] } = told?.report.certificates ?? {}
  const kept = tlsOf(row)
  const refusal = kept?.sent?.hash === kept?.hash ? (kept?.sent?.refusal ?? null) : null
  return {
    ...fieldsOf(kept),
    certificate: kept?.wanted.source === 'pasted' ? describeChain(kept.wanted.certificate) : null,
    state: stateOf(kept),
    reason: refusal?.reason ?? null,
    params: refusal?.params ?? {},
    msg: refusal && fillIn(refusals[refusal.reason][1], refusal.params),
    shown: proxy === null ? null : { names, ends_at: proxy, days_left: daysLeft(proxy, now) },
    port: row.proxyPort,
    version: versionOf(versioned(kept))
  }
}

function stateOf(kept: KeptTls | null): ProxyTls['state'] {
  if (!kept) return 'unset'
  if (kept.sent?.hash !== kept.hash) return 'waiting'
  return kept.sent.refusal ? 'refused' : 'applied'
}

/** What the form shows, except the certificate. */
function fieldsOf(kept: KeptTls | null): Pick<ProxyTls, 'source' | 'certificate_file' | 'key_file'> {
  const wanted = kept?.wanted
  if (wanted?.source !== 'files') return { source: wanted?.source ?? 'unset', certificate_file: '', key_file: '' }
  return { source: 'files', certificate_file: wanted.certificate, key_file: wanted.key }
}

/** Any change makes an open form stale. The key is in the hash only. */
const versioned = (kept: KeptTls | null) => ({ ...fieldsOf(kept), hash: kept?.hash ?? '' })

/** For the audit log: only the certificate's fingerprint, and nothing of the key. */
const auditedTls = (kept: KeptTls | null) => ({
  ...fieldsOf(kept),
  ...(kept?.wanted.source === 'pasted'
    ? { certificate_fingerprint: describeChain(kept.wanted.certificate)?.fingerprint ?? '' }
    : {})
})

/** Stores the wanted TLS for a server's proxy clients. A job sends it to the agent, even if that is away now. */
export const setProxyTls = (
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: ProxyTlsForm
): Promise<Result<ProxyTls>> =>
  command(ctx, by, async unit => {
    const row = await lockServer(unit, id)
    if (!row) return refuse('not_found')
    const before = tlsOf(row)
    const read = readForm(ctx.secrets, form, before, unit.now)
    if (!read.ok) return read
    if (read.data.source === 'pasted' && isInClear(row)) return refuse('tls_in_clear')
    const kept: KeptTls = {
      wanted: sealed(read.data, ctx.secrets),
      hash: proxyTlsHash(read.data),
      ...(before?.sent ? { sent: before.sent } : {}),
      ...(before?.leads ? { leads: before.leads } : {})
    }
    const stale = staleEdit(version, await present(unit.tx, row, unit.now), {
      now: fieldsOf(before),
      sent: fieldsOf(kept)
    })
    if (stale) return stale
    const isSame = before?.hash === kept.hash
    if (isSame) delete kept.sent
    const next = { ...row, agentSettings: withTls(row, kept) }
    await saveAgentSettings(unit, id, next.agentSettings)
    if (!isSame) unit.audit('server.proxy_tls', id, { before: auditedTls(before), after: auditedTls(kept) })
    enqueueConverge(unit, [id])
    return ok(await present(unit.tx, next, unit.now))
  })

function readForm(
  secrets: Secrets,
  form: Omit<ProxyTlsForm, 'version'>,
  before: KeptTls | null,
  now: Date
): Result<AgentProxyTls> {
  if (form.source === 'none') return ok({ source: 'none' })
  if (form.source === 'files') {
    const { certificate_file: certificate, key_file: key } = form
    if (certificate === '') return fieldRefusal('certificate_file', 'needed')
    if (key === '') return fieldRefusal('key_file', 'needed')
    return ok({ source: 'files', certificate, key })
  }
  const key = form.key === '' ? storedKey(secrets, before) : form.key
  if (key === '') return fieldRefusal('key', 'needed')
  const judged = checkPair(form.certificate, key, now)
  return judged.ok ? ok({ source: 'pasted', certificate: form.certificate, key }) : judged
}

/** '' if there is none, or it was sealed with another APP_SECRET. */
function storedKey(secrets: Secrets, before: KeptTls | null): string {
  if (before?.wanted.source !== 'pasted') return ''
  try {
    const wanted = openTls(before, secrets)
    return wanted.source === 'pasted' ? wanted.key : ''
  } catch {
    return ''
  }
}

/** Limit of the connection and the handshake. In milliseconds. */
const PATIENCE = 8000

/**
 * Connects to a server's proxies as a TLS client by a name of their certificate, and says what is wrong with the name,
 * the connection or the certificate. Where the names lead is stored, because customers are shown it.
 */
export async function checkProxyTls(
  ctx: SyncContext,
  id: number,
  ask = createLookUp(ctx.config)
): Promise<Result<ProxyTlsCheck>> {
  const server = await readServerRow(ctx.db, id)
  if (!server) return refuse('not_found')
  const at = await firstAddressOf(ctx, server)
  const nothing = { address: '', port: server.proxyPort, host: '', leads: [], seen: null }
  if (!at) return ok({ ...nothing, findings: ['no_address'] })
  await resolveProxyNames(ctx, id, ask)
  const offer = await readOffer(ctx.db, id, ctx.now())
  const host = (offer && httpsHost(offer, at.host)?.host) ?? ''
  const isName = host !== '' && isIP(host) === 0
  const leads = (isName && (await ask(host))) || []
  const dialled = await dial(at, host, ctx.now())
  const findings: ProxyTlsFinding[] = []
  // An older agent reports no names, although the certificate that it shows may have some.
  if (host === '' && dialled.seen !== null) findings.push('no_names')
  if (isName && leads.length === 0) findings.push('unresolved')
  if (isName && leads.length > 0 && leads.join() !== at.host) findings.push('leads_elsewhere')
  findings.push(...dialled.findings)
  return ok({ address: at.host, port: at.port, host, leads, seen: dialled.seen, findings })
}

type Dialled = { seen: CertificateSeen | null; findings: ProxyTlsFinding[] }

/** @param host the name to ask for; '' for none */
export async function dial(at: { host: string; port: number }, host: string, now: Date): Promise<Dialled> {
  const signal = AbortSignal.timeout(PATIENCE)
  const raw = connectTcp(at)
  try {
    await once(raw, 'connect', { signal })
  } catch {
    close(raw)
    return { seen: null, findings: ['not_listening'] }
  }
  const named = host !== '' && isIP(host) === 0 ? { servername: host } : {}
  const socket = connect({ socket: raw, rejectUnauthorized: false, ...named })
  try {
    await once(socket, 'secureConnect', { signal })
    return judge(socket, host, now)
  } catch {
    return { seen: null, findings: ['no_tls'] }
  } finally {
    close(socket)
    close(raw)
  }
}

/** The socket may still fail after a time-out. */
function close(socket: Socket): void {
  socket.on('error', () => {})
  socket.destroy()
}

function judge(socket: TLSSocket, host: string, now: Date): Dialled {
  const peer = socket.getPeerCertificate(true)
  const chain = chainOf(peer)
  const seen = seenOf(chain)
  if (!seen) return { seen: null, findings: ['no_tls'] }
  const findings: ProxyTlsFinding[] = []
  if (Date.parse(seen.begins_at) > now.getTime()) findings.push('not_begun')
  if (Date.parse(seen.ends_at) <= now.getTime()) findings.push('expired')
  if (host !== '' && checkServerIdentity(host, peer)) findings.push('wrong_name')
  // A wrong time was reported above.
  const why = String(socket.authorizationError ?? '')
  if (!socket.authorized && why !== 'CERT_HAS_EXPIRED' && why !== 'CERT_NOT_YET_VALID') findings.push('untrusted')
  return { seen, findings }
}

/** The certificates that were sent. The last one may be its own issuer. */
function chainOf(peer: DetailedPeerCertificate): X509Certificate[] {
  const found: X509Certificate[] = []
  const known = new Set<string>()
  for (let one: DetailedPeerCertificate | undefined = peer; one?.raw && !known.has(one.fingerprint256);) {
    known.add(one.fingerprint256)
    found.push(new X509Certificate(one.raw))
    one = one.issuerCertificate
  }
  return found
}
