import { hash, verify } from '@node-rs/argon2'
import { createTurns, HEAVY_AT_ONCE } from '../../infra/turns.ts'

// argon2id is the library's default; 19 MiB and 2 passes is the lower bound that OWASP names.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** A hundred take some seconds. */
const turns = createTurns({ atOnce: HEAVY_AT_ONCE, longest: 100 })

/** Who sets a password is known, by a session or a mailed code: a flood of attempts to log in keeps nobody from it. */
export const hashPassword = (password: string): Promise<string> =>
  turns.take(() => hash(password, COST), { first: true })

let decoy: Promise<string> | undefined

/**
 * Checks a password against a stored hash. Without one (no such user, or a deleted one) it works as long on a decoy,
 * so that the time tells nothing.
 * @param first who asks is known by a session or a browser that logged in before, and waits for no stranger
 */
export async function verifyPassword(
  stored: string | null | undefined,
  password: string,
  { first }: { first: boolean }
): Promise<boolean> {
  decoy ??= hashPassword('nobody has this password')
  const known = stored?.startsWith('$argon2') ? stored : undefined
  const against = known ?? (await decoy)
  const right = await turns.take(() => verify(against, password), { first })
  return right && known !== undefined
}

/** Do so many passwords wait to be checked that a stranger's would wait for too long? */
export const passwordsAreFull = (): boolean => turns.isFull()
