import type { LOGIN_METHODS, UserLogin } from '@netlet/contract'
import { and, asc, eq, gt } from 'drizzle-orm'
import { DAY, iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { deviceName } from './device-name.ts'
import { logins } from './tables.ts'

export type LoginMethod = (typeof LOGIN_METHODS)[number]

export const LOGINS_KEPT = 365 * DAY
/** Records a login in the command that opens its session. */
export async function recordLogin(
  { tx, now }: Unit,
  login: {
    userId: number
    method: LoginMethod
    ip: string
    country: string | null
    userAgent: string | undefined
  }
): Promise<void> {
  const { userAgent, ...more } = login
  await tx.insert(logins).values({ ...more, device: userAgent ? deviceName(userAgent) : null, at: now })
}

const present = (row: typeof logins.$inferSelect): UserLogin => ({
  id: row.id,
  at: iso(row.at),
  method: row.method,
  device: row.device,
  ip: row.ip?.replace(/\/(32|128)$/, '') ?? null,
  location: row.country
})

/** When and from where a user logged in. */
export const loginList = (userId: number) =>
  defineList<ListInput<'id'>, UserLogin>({
    name: 'logins',
    table: logins,
    id: logins.id,
    sort: { id: logins.id },
    match: () => ({ anyOf: [{ column: logins.userId, among: [userId] }] }),
    load: async (db, ids) => (await db.select().from(logins).where(among(logins.id, ids))).map(present)
  })

/** A user's logins for the export of personal data, in batches. */
export async function* exportLogins(db: Executor, userId: number): AsyncGenerator<object[]> {
  const pages = pagesById(({ after, limit }) =>
    db
      .select()
      .from(logins)
      .where(and(eq(logins.userId, userId), gt(logins.id, after)))
      .orderBy(asc(logins.id))
      .limit(limit)
  )
  for await (const rows of pages)
    yield rows.map(row => {
      const { id: _id, ...login } = present(row)
      return login
    })
}
