/** Signs of abuse that agents tell of: plain names, apart from the shapes. */

/**
 * `scan`: a user tries many targets that refuse or do not answer. `flood`: a user opens very many connections to one target.
 * `mail`: a user tries closed ports. `guessing`: many wrong passwords for a user.
 */
export const ABUSE_KINDS = ['scan', 'flood', 'mail', 'guessing'] as const
export type AbuseKind = (typeof ABUSE_KINDS)[number]
