import { createHmac, randomInt, randomUUID } from 'node:crypto'
import { refuse, type EmailValidateBody } from '@netlet/contract'
import { and, eq, gt, isNull, lt, or, sql } from 'drizzle-orm'
import type { z } from 'zod'
import type { Actor, UserActor, VisitorActor } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { Config } from '../../infra/config.ts'
import { lower } from '../../infra/db/columns.ts'
import { lock } from '../../infra/db/locks.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { enqueueMail } from '../mail/index.ts'
import { readSettings } from '../settings/index.ts'
import { clientNetwork } from './client-network.ts'
import { emailCodes, users } from './tables.ts'

const MAX_TRIES = 5
const PAUSE = MINUTE

type Purpose = 'register' | 'forgot'

/**
 * Sends a 6-digit code by mail, at most one a minute to an address and from a client. For a forgotten password the
 * answer is the same whether the account exists: where it does not, there is a code that nobody knows, and no mail.
 */
export async function sendEmailCode(
  ctx: AppContext,
  by: UserActor | VisitorActor,
  form: Pick<z.output<typeof EmailValidateBody>, 'email' | 'type'>
): Promise<Result<{ email_code_id: string }>> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  const client = clientNetwork(by.ip)
  const email = form.email.toLowerCase()
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    // Of two requests at once, the second one waits here and sees the first one's code.
    await lock(tx, 'emailCodeAddress', email)
    await lock(tx, 'emailCodeClient', client)
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
      enqueueMail(unit, {
        to: user?.email ?? form.email,
        template: form.type === 'register' ? 'sign-up-code' : 'forgot-code',
        // The job table is no place for a code that opens an account.
        data: { sealed_code: ctx.secrets.seal(code).toString('base64'), expires_at: expiresAt.toISOString() },
        key: `code:${id}`
      })
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
 * `consumeEmailCode` takes it. A command of its own, before the one that may be refused, so that the count stays.
 */
export async function tryEmailCode(
  ctx: AppContext,
  by: Actor,
  { id, email, purpose, code }: CodeTry
): Promise<boolean> {
  const right = eq(emailCodes.codeHash, codeHash(ctx.config, id, code))
  const [tried] = await command(ctx, by, ({ tx, now }) =>
    tx
      .update(emailCodes)
      .set({ attempts: sql`${emailCodes.attempts} + case when ${right} then 0 else 1 end` })
      .where(and(usable(id, email, purpose, now), lt(emailCodes.attempts, MAX_TRIES)))
      .returning({ right: sql<boolean>`${right}` })
  )
  return tried?.right ?? false
}

/** Takes a code that was right: once, whoever else tries at the same time. `verifyId` is kept as the proof of it. */
export async function consumeEmailCode(
  { tx, now }: Unit,
  { id, email, purpose }: Omit<CodeTry, 'code'>,
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
