import { once } from 'node:events'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { NoticeWords, Params } from '@netlet/contract'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, isNull, ne } from '../../infra/db/drizzle.ts'
import type { Found, NoticeFinder } from '../notices/index.ts'
import { firstEndOf } from '../servers/index.ts'
import { serverReports, servers } from '../servers/tables.ts'
import { publicCertificate } from './tables.ts'

type Ending = { subject: string; words: NoticeWords; params: Params; ends: string }

/**
 * Certificates that end within `days`, the earliest first: those pinned for agents, those that agents show on their API
 * and proxy ports, and the shop's own. One that ends within a day is critical, because it then blocks every connection.
 */
export async function findCertificates(
  { db, config }: Pick<AppContext, 'db' | 'config'>,
  now: Date,
  days: number
): Promise<Found[]> {
  const all = [...(await ofServers(db)), ...(await ofShop(db, config.publicUrl))]
  return all
    .filter(({ ends }) => Date.parse(ends) < now.getTime() + days * DAY)
    .toSorted((a, b) => Date.parse(a.ends) - Date.parse(b.ends))
    .map(({ ends, params, ...found }) => ({
      ...found,
      params: { ...params, ends },
      ...(Date.parse(ends) <= now.getTime() + DAY ? { severity: 'critical' } : {})
    }))
}

async function ofServers(db: Executor): Promise<Ending[]> {
  const rows = await db
    .select({
      id: servers.id,
      name: servers.name,
      ip: servers.ip,
      pem: servers.agentCertificate,
      report: serverReports.report
    })
    .from(servers)
    .leftJoin(serverReports, eq(serverReports.serverId, servers.id))
    .where(and(isNull(servers.deletedAt), ne(servers.status, 'given_up')))
  return rows.flatMap(({ id, name, ip, pem, report }) => {
    const params = { server: name, ip }
    const endingOf = (subject: string, words: NoticeWords, ends: string | null | undefined): Ending[] =>
      ends ? [{ subject, words, params, ends }] : []
    const pinned = firstEndOf(pem ?? '')
    const { api = null, proxy = null } = report?.certificates ?? {}
    // An agent that shows its pinned certificate makes one notice, not two.
    const isPinned = api !== null && pinned !== null && Date.parse(api) === Date.parse(pinned)
    return [
      ...endingOf(String(id), 'certificate', pinned),
      ...endingOf(`${id}:api`, 'certificate_api', isPinned ? null : api),
      ...endingOf(`${id}:proxy`, 'certificate_proxy', proxy)
    ]
  })
}

/** As the last check of PUBLIC_URL saw it. */
async function ofShop(db: Executor, url: string): Promise<Ending[]> {
  const [seen] = await db.select().from(publicCertificate).where(eq(publicCertificate.url, url))
  return seen ? [{ subject: 'public', words: 'certificate_public', params: { url }, ends: iso(seen.endsAt) }] : []
}

export const certificateFinder: NoticeFinder = {
  cause: 'certificate',
  every: 10,
  find: (ctx, { now, threshold }) => findCertificates(ctx, now, threshold)
}

/** How long the handshake may take. In milliseconds. */
const PATIENCE = 10_000

/**
 * Stores when the certificate ends that visitors of PUBLIC_URL see. A reverse proxy may terminate TLS, so only a
 * connection from outside shows it. If the connection fails, the last result stays.
 */
export async function readPublicCertificate(ctx: AppContext): Promise<void> {
  const { publicUrl: url } = ctx.config
  const { protocol, hostname, port } = new URL(url)
  const endsAt = protocol === 'https:' ? await endOf(hostname, Number(port) || 443) : null
  if (endsAt instanceof Error) return ctx.log.warn({ url, detail: endsAt.message }, 'the certificate was not seen')
  await command(ctx, SYSTEM, async ({ tx, now }) => {
    await tx.delete(publicCertificate).where(endsAt ? ne(publicCertificate.url, url) : undefined)
    if (!endsAt) return
    const row = { url, endsAt, seenAt: now }
    await tx.insert(publicCertificate).values(row).onConflictDoUpdate({ target: publicCertificate.one, set: row })
  })
}

/** When the server's certificate ends. An invalid certificate is read too, because one that has ended must be seen. */
async function endOf(hostname: string, port: number): Promise<Date | Error> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const named = isIP(host) === 0 ? { servername: host } : {}
  const socket = connect({ host, port, ...named, rejectUnauthorized: false })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(PATIENCE) })
    const seen = socket.getPeerX509Certificate()
    return seen ? seen.validToDate : new Error('no certificate was shown')
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    // The socket may still fail after a time-out.
    socket.on('error', () => {})
    socket.destroy()
  }
}
