import { sentenceOf, SignUpBody, type Language, type Reason, type Refusal } from '@netlet/contract'
import { SYSTEM, type Actor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lower } from '../../infra/db/columns.ts'
import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import { lock } from '../../infra/db/locks.ts'
import { StartupError } from '../../infra/db/migrate.ts'
import { formRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { randomCode, randomToken } from '../../infra/secrets.ts'
import { hashChosen, hashPassword } from './passwords.ts'
import { isActiveOwner } from './operators.ts'
import { users } from './tables.ts'

/** The unique constraints of users, for a command's `unique`. */
export const USER_CONFLICTS = {
  users_username_key: 'username_taken',
  users_email_key: 'email_taken',
  users_discord_key: 'discord_taken'
} as const satisfies Record<string, Reason>

export type NewUser = {
  username: string
  email: string
  passwordHash: string
  isSuperuser?: boolean
  invitedBy?: number | null
  discord?: { id: string; name: string }
  language?: Language | undefined
}

/** Inserts a user and returns its id. The command maps `USER_CONFLICTS`, for two concurrent inserts of one name. */
export async function insertUser(unit: Unit, user: NewUser): Promise<number> {
  const [made] = await unit.tx
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
      ...(user.language ? { language: user.language } : {}),
      createdAt: unit.now
    })
    .returning({ id: users.id })
  if (!made) throw new Error('the user was not added')
  unit.publish('user', made.id)
  return made.id
}

type PlainUser = { username: string; email: string; password: string; isSuperuser?: boolean }

/** Creates a user with a password at the first start. The rules of the sign-up form apply. */
export async function createUser(ctx: AppContext, by: Actor, user: PlainUser): Promise<Result<{ id: number }>> {
  const wrong = checkUser(user)
  if (wrong) return wrong
  const { password, ...rest } = user
  const passwordHash = await hashPassword(password)
  return command(ctx, by, { unique: USER_CONFLICTS }, async unit =>
    ok({ id: await insertUser(unit, { ...rest, passwordHash }) })
  )
}

function checkUser(user: PlainUser): Refusal | undefined {
  for (const field of ['username', 'email', 'password'] as const) {
    const check = SignUpBody.shape[field].safeParse(user[field])
    if (!check.success) return formRefusal({ [field]: check.error.issues[0]?.message ?? 'invalid' })
  }
  return undefined
}

/**
 * The customer with this address. If there is none, because the account was lost with a restore, it is made again; its
 * owner sets a password with "Forgot password".
 * @returns undefined for an operator's address
 */
export async function customerWith(unit: Unit, email: string): Promise<number | undefined> {
  const [known] = await unit.tx
    .select({ id: users.id, isSuperuser: users.isSuperuser })
    .from(users)
    .where(and(eq(lower(users.email), email.toLowerCase()), isNull(users.deletedAt)))
  if (known) return known.isSuperuser ? undefined : known.id
  const passwordHash = await hashPassword(randomToken())
  return insertUser(unit, { username: `customer_${randomCode(8)}`, email: email.toLowerCase(), passwordHash })
}

/**
 * Creates the first administrator from the configuration unless an active one exists.
 * @throws StartupError if the configured name, address or password is refused
 */
export async function ensureAdmin(ctx: AppContext): Promise<void> {
  const { admin } = ctx.config
  if (!admin) return
  const made = await command(ctx, SYSTEM, { unique: USER_CONFLICTS }, async unit => {
    // Several processes start at once.
    await lock(unit.tx, 'firstAdmin')
    const [existing] = await unit.tx.select({ id: users.id }).from(users).where(isActiveOwner).limit(1)
    if (existing) return ok(null)
    const wrong = checkUser(admin)
    if (wrong) return wrong
    const { username, email, password } = admin
    // Each demo has the same known password.
    const chosen = ctx.config.demo ? ok(await hashPassword(password)) : await hashChosen(password, admin)
    if (!chosen.ok) return chosen
    const id = await insertUser(unit, { username, email, passwordHash: chosen.data, isSuperuser: true })
    unit.audit('user.create', id, { after: { username, email } })
    return ok(null)
  })
  if (!made.ok) {
    throw new StartupError(
      `The administrator of ADMIN_USERNAME, ADMIN_EMAIL and ADMIN_PASSWORD cannot be made: ${sentenceOf(made)}`
    )
  }
}
