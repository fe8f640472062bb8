import type { CurrentUser, User } from '@netlet/contract'
import { and, asc, eq, getTableColumns, inArray } from '../../infra/db/drizzle.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { versionOf } from '../../infra/version.ts'
import { levelOf, type Threshold } from './levels.ts'
import type { AccountPorts } from './ports.ts'
import { dueAt } from './second-factor/required.ts'
import { users } from './tables.ts'
import { auditLog } from '../../infra/tables.ts'
import type { Recipient } from '../mail/index.ts'

type Held = { value: string; from: Date; until: Date | null }

/** The names and addresses under which a user got mails, and when, according to the audit log. */
export async function recipientOf(
  db: Executor,
  user: Pick<UserRow, 'id' | 'username' | 'email' | 'createdAt'>
): Promise<Recipient> {
  const changes = await db
    .select({ at: auditLog.at, before: auditLog.before, after: auditLog.after })
    .from(auditLog)
    .where(
      and(
        eq(auditLog.targetType, 'user'),
        eq(auditLog.targetId, String(user.id)),
        inArray(auditLog.action, ['user.edit', 'user.change_email'])
      )
    )
    .orderBy(asc(auditLog.id))
  const held = (field: 'username' | 'email'): Held[] => {
    const values: Held[] = []
    let from = user.createdAt
    for (const { at, before, after } of changes) {
      const former = textOf(before, field)
      if (former === undefined || textOf(after, field) === undefined) continue
      values.push({ value: former, from, until: at })
      from = at
    }
    return [...values, { value: user[field], from, until: null }]
  }
  const names = held('username')
  return {
    username: user.username,
    email: user.email,
    since: user.createdAt,
    namedSince: names.at(-1)?.from ?? user.createdAt,
    names: names.map(({ value }) => value),
    addresses: held('email').map(({ value, ...when }) => ({ address: value, ...when }))
  }
}

function textOf(row: unknown, field: string): string | undefined {
  const value: unknown = typeof row === 'object' && row !== null && field in row ? Reflect.get(row, field) : undefined
  return typeof value === 'string' ? value : undefined
}

const { passwordHash: _passwordHash, ...columns } = getTableColumns(users)
/** A user's columns for display: all but the password's hash. */
export const userColumns = columns
export type UserRow = Omit<typeof users.$inferSelect, 'passwordHash'>

type FormField =
  | 'username'
  | 'email'
  | 'is_superuser'
  | 'operator_role'
  | 'is_active'
  | 'reward_points'
  | 'level_points'
type UserFields = { [K in FormField]?: User[K] | undefined }

/**
 * The fields of a user's form. It includes coins and points, although they change by an amount, so that a form sent
 * twice changes them once.
 */
export const userFields = (fields: UserFields) => {
  const { username, email, is_superuser, operator_role, is_active, reward_points, level_points } = fields
  return { username, email, is_superuser, operator_role, is_active, reward_points, level_points }
}

export function presentUser(row: UserRow, thresholds: readonly Threshold[]): User {
  const fields = {
    username: row.username,
    email: row.email,
    is_active: row.isActive,
    is_superuser: row.isSuperuser,
    operator_role: row.isSuperuser ? row.operatorRole : null,
    reward_points: row.coins,
    level_points: row.levelPoints
  }
  return {
    id: row.id,
    ...fields,
    discord_id: row.discordId,
    discord_name: row.discordName,
    points: row.coins,
    level: levelOf(row.levelPoints, thresholds),
    invite_code: row.inviteCode,
    invite_count: row.inviteCount,
    created_at: iso(row.createdAt),
    last_login: isoOrNull(row.lastLogin),
    last_login_time: isoOrNull(row.lastLogin),
    last_login_ip: row.lastLoginIp?.replace(/\/(32|128)$/, '') ?? null,
    last_location: row.lastLocation,
    version: versionOf(userFields(fields))
  }
}

/** The session's current user. @throws if the user was deleted after the request was authenticated */
export async function currentUser(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { levelThresholds, pendingCoins }: Pick<AccountPorts, 'levelThresholds' | 'pendingCoins'>,
  { id, impersonator }: { id: number; impersonator: { username: string } | null }
): Promise<CurrentUser> {
  const [[row], thresholds, pending] = await Promise.all([
    db
      .select({ ...userColumns, dueAt: dueAt('users') })
      .from(users)
      .where(eq(users.id, id)),
    levelThresholds(db),
    pendingCoins(db, id)
  ])
  if (!row) throw new Error(`user ${id} is gone`)
  return {
    ...presentUser(row, thresholds),
    impersonated_by: impersonator?.username ?? null,
    pending_points: pending,
    second_factor_due: isoOrNull(row.dueAt),
    must_add_second_factor: row.dueAt !== null && row.dueAt <= now()
  }
}
