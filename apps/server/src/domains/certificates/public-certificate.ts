import { once } from 'node:events'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { ne } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { publicCertificate } from './tables.ts'

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
