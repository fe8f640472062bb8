import type { ReplyOf, routes, User } from '@netlet/contract'
import { eq, ilike, isNull, sql } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import { containing } from '../../infra/db/like.ts'
import type { AccountPorts } from './ports.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { presentUser, userColumns } from './present-user.ts'
import { usernameAndEmail, users } from './tables.ts'

/** Users, found by username and e-mail. */
export const userList = ({ levelThresholds }: Pick<AccountPorts, 'levelThresholds'>) =>
  defineList<ListInput<'id'>, User>({
    name: 'users',
    table: users,
    id: users.id,
    sort: { id: users.id },
    async match(db, { search }) {
      const where = [isNull(users.deletedAt)]
      if (search === undefined) return { where }
      // An e-mail that is somebody's names one user.
      const byEmail = eq(sql`lower(${users.email})`, search.toLowerCase())
      const [known] = search.includes('@') ? await db.select({ id: users.id }).from(users).where(byEmail) : []
      if (known) return { where, anyOf: [{ column: users.id, among: [known.id] }] }
      return { where, text: { in: usernameAndEmail, term: search } }
    },
    async load(db, ids) {
      const [rows, thresholds] = await Promise.all([
        db.select(userColumns).from(users).where(among(users.id, ids)),
        levelThresholds(db)
      ])
      return rows.map(row => presentUser(row, thresholds))
    }
  })

type Invited = ReplyOf<(typeof routes)['accounts']['inviteLog']>['data'][number]

/** Whom a user invited, found by username. */
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
