/**
 * How hard a new password is to guess. Import this file only where a password is set, and only then: its list of
 * 50,000 common passwords takes 430 KB and some memory.
 */
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'
import type { Reason } from './messages.ts'

/** A password has at most 20 characters. Fewer spellings in digits and symbols than by default keep a check short. */
const estimator = new ZxcvbnFactory({
  dictionary,
  graphs: adjacencyGraphs,
  maxLength: 20,
  l33tMaxSubstitutions: 20
})

/** As many as for eight random characters. Common passwords and words with a few digits take fewer. */
const FEWEST_GUESSES = 1e8
const STRONG = 1e10
/** A shorter name would be part of many passwords by chance. */
const SHORTEST_NAME = 4

/** Whose password it is, as far as known. */
export type PasswordOwner = { username?: string | undefined; email?: string | undefined }

export type PasswordStrength = 'weak' | 'fair' | 'strong'

/** Why this person must not have this password; null: it may be set. */
export function weaknessOf(
  password: string,
  owner: PasswordOwner
): Extract<Reason, 'password_has_name' | 'password_is_common'> | null {
  const typed = password.toLowerCase()
  const names = [owner.username, owner.email?.split(/[@+]/)[0]]
  if (names.some(name => name && name.length >= SHORTEST_NAME && typed.includes(name.toLowerCase())))
    return 'password_has_name'
  return guessesOf(password) < FEWEST_GUESSES ? 'password_is_common' : null
}

/** For a meter beside the field. What is weak is refused. */
export function strengthOf(password: string, owner: PasswordOwner): PasswordStrength {
  if (weaknessOf(password, owner)) return 'weak'
  return guessesOf(password) < STRONG ? 'fair' : 'strong'
}

/** Words that are common here. */
const OF_THE_SHOP = ['netlet', 'proxy', 'proxies']

const guessesOf = (password: string): number => estimator.check(password, OF_THE_SHOP).guesses
