import type { LOGIN_METHODS, UserLogin } from '@netlet/contract'
import { and, asc, eq, gt } from '../../infra/db/drizzle.ts'
import { DAY, iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { logins } from './tables.ts'
import { BROWSER_MAP, getParser } from 'bowser'

/** 'Chrome on Linux', from the user agent. Other programs keep their own name, shortened. */
export function deviceName(userAgent: string): string {
  const parser = getParser(userAgent)
  const names = [parser.getBrowserName(), parser.getOSName()].filter(Boolean)
  return names.length > 0 ? names.join(' on ') : userAgent.slice(0, 60)
}

const BROWSERS = new Set(Object.values(BROWSER_MAP))

/** 'Chrome' or 'other': a small set of names for any user agent. */
export function browserName(userAgent: string | undefined): string {
  const name = userAgent ? getParser(userAgent).getBrowserName() : ''
  return BROWSERS.has(name) ? name : 'other'
}

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
