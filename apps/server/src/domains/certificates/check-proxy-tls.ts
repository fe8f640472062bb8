import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { type Socket, connect as connectTcp, isIP } from 'node:net'
import { type DetailedPeerCertificate, type TLSSocket, checkServerIdentity, connect } from 'node:tls'
import { type CertificateSeen, type ProxyTlsCheck, type ProxyTlsFinding, refuse } from '@netlet/contract'
import { type Result, ok } from '../../infra/result.ts'
import { type SyncContext, firstAddressOf, readServerRow } from '../servers/index.ts'
import { seenOf } from './chain.ts'
import { createLookUp, resolveProxyNames } from './proxy-names.ts'
import { httpsHost, readOffer } from './tls-offer.ts'

/** Limit of the connection and the handshake. In milliseconds. */
const DIAL_MS = 8000

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
  const signal = AbortSignal.timeout(DIAL_MS)
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
    return describePeer(socket, host, now)
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

function describePeer(socket: TLSSocket, host: string, now: Date): Dialled {
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
