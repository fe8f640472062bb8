import { proxyTlsHash } from '@netlet/contract/agent-hashes'
import { type ProxyTls, type ProxyTlsForm, fillIn, refusals, refuse } from '@netlet/contract'
import type { AgentProxyTls } from '@netlet/contract/proxy-tls'
import type { Actor } from '../../infra/actor.ts'
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
  daysLeft,
  enqueueConverge,
  lockServer,
  openTls,
  readServerRow,
  saveAgentSettings,
  sealed,
  tlsOf,
  withTls
} from '../servers/index.ts'
import { serverReports } from '../servers/tables.ts'
import { checkPair, describeChain } from './chain.ts'
import { isInClear } from './send-tls.ts'

export async function readProxyTls(db: Executor, id: number, now: Date): Promise<Result<ProxyTls>> {
  const row = await readServerRow(db, id)
  return row ? ok(await present(db, row, now)) : refuse('not_found')
}

async function present(db: Executor, row: ServerRow, now: Date): Promise<ProxyTls> {
  const [reported] = await db.select().from(serverReports).where(eq(serverReports.serverId, row.id))
  const { proxy = null, proxy_names: names = [] } = reported?.report.certificates ?? {}
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
