import { hash, verify } from '@node-rs/argon2'

// argon2id is the library's default; 19 MiB and 2 passes is the lower bound that OWASP names.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export const hashPassword = (password: string): Promise<string> => hash(password, COST)

let decoy: Promise<string> | undefined

/**
 * Checks a password against a stored hash. Without one (no such user, or a deleted one) it works as long on a decoy,
 * so that the time tells nothing.
 */
export async function verifyPassword(stored: string | null | undefined, password: string): Promise<boolean> {
  decoy ??= hashPassword('nobody has this password')
  const known = stored?.startsWith('$argon2') ? stored : undefined
  const right = await verify(known ?? (await decoy), password)
  return right && known !== undefined
}
