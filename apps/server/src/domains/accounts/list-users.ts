import type { ListQuery, Paging } from '@netlet/contract'
import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { rowCounter } from '../../infra/db/row-counter.ts'
import { containing, pageOf } from '../../infra/http/paging.ts'
import type { AccountPorts } from './ports.ts'
import { presentUser, userColumns } from './present-user.ts'
import { users } from './tables.ts'

const notDeleted = isNull(users.deletedAt)
const countUsers = rowCounter(users, users.id, notDeleted)

// Exactly the expression of the trigram index.
const searched = sql`(${users.username} || ' ' || ${users.email})`

/** Users, newest first. `search` is looked for in username and email. */
export async function listUsers(
  db: Executor,
  { levelThresholds }: Pick<AccountPorts, 'levelThresholds'>,
  query: z.output<typeof ListQuery>
) {
  const where = query.search ? and(notDeleted, sql`${searched} ilike ${containing(query.search)}`) : notDeleted
  const [rows, total, thresholds] = await Promise.all([
    db.select(userColumns).from(users).where(where).orderBy(desc(users.id)).limit(query.limit).offset(query.offset),
    query.search ? db.$count(users, where) : countUsers(db),
    levelThresholds(db)
  ])
  return pageOf(
    rows.map(row => presentUser(row, thresholds)),
    total,
    query
  )
}

/** Whom a user invited, newest first. */
export async function listInvited(db: Executor, inviterId: number, query: z.output<typeof Paging>) {
  const where = and(eq(users.invitedBy, inviterId), notDeleted)
  const [rows, total] = await Promise.all([
    db
      .select({ id: users.id, username: users.username, createdAt: users.createdAt })
      .from(users)
      .where(where)
      .orderBy(desc(users.id))
      .limit(query.limit)
      .offset(query.offset),
    db.$count(users, where)
  ])
  return pageOf(
    rows.map(row => ({ id: row.id, username: row.username, created_at: iso(row.createdAt) })),
    total,
    query
  )
}
