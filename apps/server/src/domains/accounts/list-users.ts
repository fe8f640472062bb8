import type { Found, ListedUser, ReplyOf, routes } from '@netlet/contract'
import { type SQL, and, eq, gte, ilike, isNull, lt, or, sql } from '../../infra/db/drizzle.ts'
import { iso } from '../../infra/clock.ts'
import { containing, hasTrigram } from '../../infra/db/like.ts'
import type { Threshold } from './levels.ts'
import type { AccountPorts } from './ports.ts'
import { type ListInput, among, defineList, idsByText } from '../../infra/list/index.ts'
import { presentUser, userColumns } from './present-user.ts'
import { secondFactors } from './second-factor/tables.ts'
import { lastSeen, usernameAndEmail, users } from './tables.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'

/**
 * Users by exact name or e-mail, then those that contain the text, newest first. The index needs three letters or
 * digits in a row; shorter texts match exactly only.
 */
export async function searchUsers(db: Executor, text: string, limit: number): Promise<Found['users']> {
  const named = text.toLowerCase()
  const [exact, similar] = await Promise.all([
    db
      .select({ id: users.id })
      .from(users)
      .where(and(or(eq(lower(users.username), named), eq(lower(users.email), named)), isNull(users.deletedAt))),
    hasTrigram(text)
      ? idsByText(
          db,
          { table: users, id: users.id, text: usernameAndEmail, where: isNull(users.deletedAt) },
          text,
          limit + 1
        )
      : []
  ])
  const exactIds = exact.map(({ id }) => id)
  const ids = [...new Set([...exactIds, ...similar])].slice(0, limit)
  if (ids.length === 0) return []
  const rows = await db
    .select({ id: users.id, username: users.username, email: users.email })
    .from(users)
    .where(among(users.id, ids))
  return rows
    .map(row => ({ ...row, exact: exactIds.includes(row.id) }))
    .toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
}

type UserQuery = ListInput<'id' | 'reward_points' | 'level_points' | 'last_login'> & {
  is_active?: '0' | '1' | undefined
  is_superuser?: '0' | '1' | undefined
  level?: '0' | '1' | '2' | '3' | '4' | '5' | undefined
}

/** The range of a level's points. As in `levelOf`, the highest reached level counts. */
function ofLevel(level: number, thresholds: readonly Threshold[]): SQL | undefined {
  const from = level === 0 ? 0 : thresholds.find(step => step.level === level)?.point
  if (from === undefined) return sql`false`
  const above = thresholds.filter(step => step.level > level).map(({ point }) => point)
  return and(gte(users.levelPoints, from), above.length > 0 ? lt(users.levelPoints, Math.min(...above)) : undefined)
}

/** Users by username and e-mail. */
export const userList = ({ levelThresholds }: Pick<AccountPorts, 'levelThresholds'>) =>
  defineList<UserQuery, ListedUser>({
    name: 'users',
    table: users,
    id: users.id,
    sort: { id: users.id, reward_points: users.coins, level_points: users.levelPoints, last_login: lastSeen(users) },
    async match(db, { search, is_active, is_superuser, level }) {
      const where = [
        isNull(users.deletedAt),
        // Letter for letter the conditions of users_banned and users_admins.
        is_active === undefined ? undefined : is_active === '1' ? sql`${users.isActive}` : sql`not ${users.isActive}`,
        is_superuser === undefined
          ? undefined
          : is_superuser === '1'
            ? sql`${users.isSuperuser}`
            : sql`not ${users.isSuperuser}`,
        level === undefined ? undefined : ofLevel(Number(level), await levelThresholds(db))
      ]
      if (search === undefined) return { where }
      // A known e-mail matches its user only.
      const byEmail = eq(sql`lower(${users.email})`, search.toLowerCase())
      const [known] = search.includes('@') ? await db.select({ id: users.id }).from(users).where(byEmail) : []
      if (known) return { where, anyOf: [{ column: users.id, among: [known.id] }] }
      return { where, text: { in: usernameAndEmail, term: search } }
    },
    async load(db, ids) {
      const [rows, thresholds] = await Promise.all([
        db
          .select({ ...userColumns, factors: db.$count(secondFactors, eq(secondFactors.userId, users.id)) })
          .from(users)
          .where(among(users.id, ids)),
        levelThresholds(db)
      ])
      return rows.map(row => ({ ...presentUser(row, thresholds), second_factors: row.factors }))
    }
  })

type Invited = ReplyOf<(typeof routes)['accounts']['inviteLog']>['data'][number]

/** The users whom a user invited, by username. */
export const invitedList = (inviterId: number) =>
  defineList<ListInput<'id'>, Invited>({
    name: 'invited_users',
    table: users,
    id: users.id,
    sort: { id: users.id },
    match: (_db, { search }) => ({
      where: [isNull(users.deletedAt), search === undefined ? undefined : ilike(users.username, containing(search))],
      anyOf: [{ column: users.invitedBy, among: [inviterId] }]
    }),
    async load(db, ids) {
      const rows = await db
        .select({ id: users.id, username: users.username, createdAt: users.createdAt })
        .from(users)
        .where(among(users.id, ids))
      return rows.map(({ id, username, createdAt }) => ({ id, username, created_at: iso(createdAt) }))
    }
  })
