import type { PasswordOwner } from '@netlet/contract/password-strength'
import { hash, verify } from '@node-rs/argon2'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { createLimiter, MAX_HEAVY_TASKS } from '../../infra/turns.ts'

// argon2id is the library's default; OWASP's minimum is 19 MiB and 2 passes.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** A hundred take some seconds. Of one account or client, as many wait as may fail before it is throttled. */
const turns = createLimiter({ atOnce: MAX_HEAVY_TASKS, longest: 100, each: 20 })

/** A session or a mailed code has authenticated this caller, so it goes before a flood of logins. */
export const hashPassword = (password: string): Promise<string> =>
  turns.take(() => hash(password, COST), { first: true })

/**
 * Hashes the password that a person chose. Refuses what is easy to guess, and what contains the account's names, at the
 * form's `field`.
 */
export async function hashChosen(password: string, owner: PasswordOwner, field = 'password'): Promise<Result<string>> {
  // Its list of common passwords is large, and a process may never need it.
  const { weaknessOf } = await import('@netlet/contract/password-strength')
  const weakness = weaknessOf(password, owner)
  return weakness ? fieldRefusal(field, weakness) : ok(await hashPassword(password))
}

/**
 * Whose password is checked. `key`: the account, or the network of a stranger. `first`: the caller has a session or a
 * device cookie, so it need not wait for all strangers.
 */
export type Caller = { key: string; first: boolean }

/** A browser or session of an account. */
export const ofAccount = (userId: number): Caller => ({ key: `user:${userId}`, first: true })

let decoy: Promise<string> | undefined

/**
 * Checks a password against a stored hash. Without one (an unknown or deleted user) it spends the same time on a decoy,
 * so that the timing reveals nothing.
 */
export async function verifyPassword(
  stored: string | null | undefined,
  password: string,
  caller: Caller
): Promise<boolean> {
  decoy ??= hashPassword('nobody has this password')
  const known = stored?.startsWith('$argon2') ? stored : undefined
  const against = known ?? (await decoy)
  const right = await turns.take(() => verify(against, password), caller)
  return right && known !== undefined
}

/** Do so many passwords wait that another one of this caller would take too long? */
export const passwordsAreFull = (caller: Caller): boolean => turns.isFull(caller)
