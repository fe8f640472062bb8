import { refusals, refuse, SignUpBody } from '@netlet/contract'
import { and, eq, sql } from 'drizzle-orm'
import type { Clock } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { StartupError } from '../../infra/db/migrate.ts'
import { transact } from '../../infra/db/transact.ts'
import { ok, type Result } from '../../infra/result.ts'
import { randomCode } from '../../infra/secrets.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import { hashPassword } from './passwords.ts'
import { users } from './tables.ts'

export type NewUser = {
  username: string
  email: string
  passwordHash: string
  isSuperuser?: boolean
  invitedBy?: number | null
  discord?: { id: string; name: string }
  now: Date
}

/** Inserts a user. Of two at once with one name or address, the second is refused. */
export async function insertUser(tx: Executor, user: NewUser): Promise<Result<{ id: number }>> {
  const [made] = await tx
    .insert(users)
    .values({
      username: user.username,
      email: user.email,
      passwordHash: user.passwordHash,
      isSuperuser: user.isSuperuser ?? false,
      inviteCode: randomCode(8),
      invitedBy: user.invitedBy ?? null,
      discordId: user.discord?.id ?? null,
      discordName: user.discord?.name ?? null,
      createdAt: user.now
    })
    .onConflictDoNothing()
    .returning({ id: users.id })
  return made ? ok(made) : whatIsTaken(tx, user)
}

async function whatIsTaken(tx: Executor, { username, email, discord }: NewUser): Promise<Result<never>> {
  const taken = async (condition: ReturnType<typeof eq>) =>
    (await tx.select({ id: users.id }).from(users).where(condition)).length > 0
  if (await taken(eq(lower(users.username), username.toLowerCase()))) return refuse('username_taken')
  if (await taken(eq(lower(users.email), email.toLowerCase()))) return refuse('email_taken')
  if (discord && (await taken(eq(users.discordId, discord.id)))) return refuse('discord_taken')
  throw new Error('a user conflicts with nothing that can be named')
}

/** Creates a user with a password, for the first run. The rules of the sign-up form hold. */
export async function createUser(
  { db, now }: { db: Executor; now: Clock },
  user: { username: string; email: string; password: string; isSuperuser?: boolean }
): Promise<Result<{ id: number }>> {
  const { username, email, password } = SignUpBody.shape
  for (const check of [
    username.safeParse(user.username),
    email.safeParse(user.email),
    password.safeParse(user.password)
  ])
    if (!check.success) return refuse('invalid', { msg: check.error.issues[0]?.message })
  const { password: plain, ...rest } = user
  return insertUser(db, { ...rest, passwordHash: await hashPassword(plain), now: now() })
}

/**
 * Makes the first administrator out of the configuration. Where an active one exists, it changes nothing.
 * @throws StartupError where the configured name or password will not do
 */
export async function ensureAdmin(ctx: Pick<AppContext, 'config' | 'db' | 'now'>): Promise<void> {
  const { admin } = ctx.config
  if (!admin) return
  const made = await transact(ctx.db, async tx => {
    // Several processes start at once.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('netlet first administrator'))`)
    const [existing] = await tx
      .select({ id: users.id })
      .from(users)
      .where(and(eq(users.isSuperuser, true), eq(users.isActive, true)))
      .limit(1)
    if (existing) return ok(null)
    const created = await createUser({ db: tx, now: ctx.now }, { ...admin, isSuperuser: true })
    if (!created.ok) return created
    await record(tx, null, {
      action: 'create first administrator',
      targetType: 'user',
      targetId: created.data.id,
      after: { username: admin.username, email: admin.email }
    })
    return ok(null)
  })
  if (!made.ok) {
    throw new StartupError(
      `The administrator of ADMIN_USERNAME, ADMIN_EMAIL and ADMIN_PASSWORD cannot be made: ${made.msg ?? refusals[made.reason][1]}`
    )
  }
}
