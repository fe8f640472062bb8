import { withUnit } from '../../infra/legacy-unit.ts'
import { createHmac, randomInt, randomUUID } from 'node:crypto'
import { refuse, type EmailValidateBody } from '@netlet/contract'
import { and, eq, gt, isNull, lt, or, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { MINUTE } from '../../infra/clock.ts'
import type { Config } from '../../infra/config.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { transact } from '../../infra/db/transact.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { enqueueMail } from '../mail/index.ts'
import { readSettings } from '../settings/index.ts'
import { clientNetwork } from './client-address.ts'
import { emailCodes, users } from './tables.ts'

const MOST_TRIES = 5
const PAUSE = MINUTE

type Purpose = 'register' | 'forgot'

/**
 * Sends a 6-digit code by mail, at most one a minute to an address and from a client. For a forgotten password the
 * answer is the same whether the account exists: where it does not, there is a code that nobody knows, and no mail.
 */
export async function sendEmailCode(
  ctx: Pick<AppContext, 'config' | 'db' | 'jobs' | 'now' | 'secrets'>,
  form: Pick<z.output<typeof EmailValidateBody>, 'email' | 'type'>,
  ip: string
): Promise<Result<{ email_code_id: string }>> {
  const now = ctx.now()
  const settings = await readSettings(ctx.db, ctx.secrets)
  const client = clientNetwork(ip)
  const email = form.email.toLowerCase()
  return transact(ctx.db, async tx => {
    // Two askers at once meet here, so that the second sees the first one's code.
    for (const lock of [`email:${email}`, `client:${client}`].toSorted())
      await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`)
    const [recent] = await tx
      .select({ id: emailCodes.id })
      .from(emailCodes)
      .where(
        and(
          or(eq(lower(emailCodes.email), email), sql`${emailCodes.clientIp} = ${client}::inet`),
          gt(emailCodes.createdAt, new Date(now.getTime() - PAUSE))
        )
      )
      .limit(1)
    if (recent) return refuse('email_code_too_soon')
    const [user] = await tx
      .select({ email: users.email, isActive: users.isActive })
      .from(users)
      .where(eq(lower(users.email), email))
    if (form.type === 'register' && user) return refuse('email_taken')
    const id = randomUUID()
    const code = String(randomInt(1_000_000)).padStart(6, '0')
    const expiresAt = new Date(now.getTime() + settings.email_code_expire * 1000)
    await tx.insert(emailCodes).values({
      id,
      email,
      purpose: form.type,
      codeHash: codeHash(ctx.config, id, code),
      clientIp: client,
      createdAt: now,
      expiresAt
    })
    if (form.type === 'register' || user?.isActive) {
      await withUnit(tx, ctx.jobs, async unit =>
        enqueueMail(unit, {
          to: user?.email ?? form.email,
          template: form.type === 'register' ? 'sign-up-code' : 'forgot-code',
          // The job table is no place for a code that opens an account.
          data: { sealed_code: ctx.secrets.seal(code).toString('base64'), expires_at: expiresAt.toISOString() },
          key: `code:${id}`
        })
      )
    }
    return ok({ email_code_id: id })
  })
}

/** Six digits are found in no time from a plain hash: this one needs the shop's secret as well. */
const codeHash = ({ appSecret }: Pick<Config, 'appSecret'>, id: string, code: string): Buffer =>
  createHmac('sha256', appSecret).update(`email code ${id} ${code}`).digest()

export type CodeTry = { id: string; email: string; purpose: Purpose; code: string }

/**
 * Is the code right? A wrong one is counted, and after five nothing is right any more. A right one stays usable:
 * `consumeEmailCode` takes it. Call it outside of the transaction that may be refused, so that the count stays.
 */
export async function tryEmailCode(
  db: Executor,
  config: Pick<Config, 'appSecret'>,
  { id, email, purpose, code }: CodeTry,
  now: Date
): Promise<boolean> {
  const right = eq(emailCodes.codeHash, codeHash(config, id, code))
  const [tried] = await db
    .update(emailCodes)
    .set({ attempts: sql`${emailCodes.attempts} + case when ${right} then 0 else 1 end` })
    .where(and(usable(id, email, purpose, now), lt(emailCodes.attempts, MOST_TRIES)))
    .returning({ right: sql<boolean>`${right}` })
  return tried?.right ?? false
}

/** Takes a code that was right: once, whoever else tries at the same time. `verifyId` is kept as the proof of it. */
export async function consumeEmailCode(
  tx: Executor,
  { id, email, purpose }: Omit<CodeTry, 'code'>,
  now: Date,
  proof?: { verifyId: string; expiresAt: Date }
): Promise<boolean> {
  const taken = await tx
    .update(emailCodes)
    .set({ usedAt: now, ...proof })
    .where(usable(id, email, purpose, now))
    .returning({ id: emailCodes.id })
  return taken.length > 0
}

const usable = (id: string, email: string, purpose: Purpose, now: Date) =>
  and(
    eq(emailCodes.id, id),
    eq(lower(emailCodes.email), email.toLowerCase()),
    eq(emailCodes.purpose, purpose),
    isNull(emailCodes.usedAt),
    gt(emailCodes.expiresAt, now)
  )
