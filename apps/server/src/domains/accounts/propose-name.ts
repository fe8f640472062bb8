import { inArray } from 'drizzle-orm'
import { lower } from '../../infra/db/columns.ts'
import type { Executor } from '../../infra/db/client.ts'
import { users } from './tables.ts'

const [SHORTEST, LONGEST] = [4, 10]
const HAS_LETTER = /[A-Za-z]/
/** How many alternatives are tried for a taken name. */
const OTHERS = 98

/**
 * A free user name made of the letters and digits of a name elsewhere; null if they make none. Only a proposal: another
 * sign-up may take it first.
 */
export async function proposeName(db: Executor, elsewhere: string): Promise<string | null> {
  const plain = elsewhere
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, LONGEST)
  if (!HAS_LETTER.test(plain)) return null
  const numbered = Array.from({ length: OTHERS }, (_, at) => `${plain.slice(0, LONGEST - 2)}${at + 2}`)
  const all = [plain, ...numbered]
    .map(name => name.padEnd(SHORTEST, '0'))
    // The number may have replaced the only letter.
    .filter(name => HAS_LETTER.test(name))
  const names = all.map(name => name.toLowerCase())
  const rows = await db
    .select({ name: users.username })
    .from(users)
    .where(inArray(lower(users.username), names))
  const taken = new Set(rows.map(({ name }) => name.toLowerCase()))
  return all.find(name => !taken.has(name.toLowerCase())) ?? null
}
