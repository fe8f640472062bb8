import { eq, ne, sql } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { hashToken } from '../../infra/secrets.ts'
import type { Found } from './found.ts'
import { raiseNotice } from './raise.ts'
import { refusedTokens } from './tables.ts'

/** The services of this file, by their names in notices. */
const SERVICES = {
  platform: 'E-commerce platform',
  platform_key: 'E-commerce platform (API key and secret)',
  chat_client: 'Chat sign-in (client id and secret)'
} as const
type Service = keyof typeof SERVICES

/** A service refused these credentials. Operators get one notice, at once. */
export async function noteRefused(ctx: AppContext, service: Service, token: string, message: string): Promise<void> {
  const hash = hashToken(token)
  if (await readRefusal(ctx.db, service, hash)) return
  await command(ctx, SYSTEM, async unit => {
    const row = { token: hash, message, since: unit.now }
    const [news] = await unit.tx
      .insert(refusedTokens)
      .values({ service, ...row })
      .onConflictDoUpdate({ target: refusedTokens.service, set: row, setWhere: ne(refusedTokens.token, hash) })
      .returning({ service: refusedTokens.service })
    // Many jobs meet a refusal at the same time.
    if (!news) return
    const params = { service: SERVICES[service], message }
    raiseNotice(unit, {
      cause: 'token',
      subject: service,
      key: `token:${service}:${iso(unit.now)}`,
      words: 'token',
      params
    })
  })
}

/** A service accepted its credentials, so its earlier refusal is deleted. */
export async function noteAccepted(ctx: AppContext, service: Service): Promise<void> {
  const [known] = await ctx.db
    .select({ one: sql`1` })
    .from(refusedTokens)
    .where(eq(refusedTokens.service, service))
  if (known) await command(ctx, SYSTEM, unit => unit.tx.delete(refusedTokens).where(eq(refusedTokens.service, service)))
}

async function readRefusal(db: Executor, service: Service, token: Buffer) {
  const [row] = await db.select().from(refusedTokens).where(eq(refusedTokens.service, service))
  return row?.token.equals(token) ? row : undefined
}

/** For the finder of the cause `token`: were exactly these credentials refused? */
export async function findRefusal(db: Executor, service: Service, token: string): Promise<Found[]> {
  const row = await readRefusal(db, service, hashToken(token))
  if (!row) return []
  const params = { service: SERVICES[service], message: row.message }
  return [{ subject: service, words: 'token', params, since: row.since }]
}
