/** Kinds of abuse, without schemas, so that screens can import them without the validation library. */

/**
 * `scan`: many targets that refuse or do not answer. `flood`: very many connections to one target. `mail`: attempts on
 * closed ports. `guessing`: many wrong passwords for a user.
 */
export const ABUSE_KINDS = ['scan', 'flood', 'mail', 'guessing'] as const
export type AbuseKind = (typeof ABUSE_KINDS)[number]
