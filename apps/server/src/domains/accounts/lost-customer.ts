import { and, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { randomCode, randomToken } from '../../infra/secrets.ts'
import { insertUser } from './create-user.ts'
import { hashPassword } from './passwords.ts'
import { users } from './tables.ts'

/**
 * The customer with this address. If there is none, because the account was lost with a restore, it is made again; its
 * owner sets a password with "Forgot password".
 * @returns undefined for an operator's address
 */
export async function customerWith(unit: Unit, email: string): Promise<number | undefined> {
  const [known] = await unit.tx
    .select({ id: users.id, isSuperuser: users.isSuperuser })
    .from(users)
    .where(and(eq(sql`lower(${users.email})`, email.toLowerCase()), isNull(users.deletedAt)))
  if (known) return known.isSuperuser ? undefined : known.id
  const passwordHash = await hashPassword(randomToken())
  return insertUser(unit, { username: `customer_${randomCode(8)}`, email: email.toLowerCase(), passwordHash })
}
