import { and, eq, sql } from 'drizzle-orm'
import type { Executor } from './db/client.ts'
import { auditLog } from './tables.ts'

type Forgotten = {
  userId: number
  username: string
  email: string
  /** What stands in their place. */
  replacement: string
}

/** Fields of a user's own entries that name or find the person. */
const PERSONAL = [
  'username',
  'email',
  'discordId',
  'discordName',
  'discord_id',
  'discord_name',
  'lastLoginIp',
  'last_login_ip',
  'lastLocation',
  'last_location'
]

/**
 * Takes a person out of the audit log: as the one who acted, who was viewed, on whom it was done, and in what was
 * changed. The entries stay, with the account's id, so that what was done can still be told. A name counts where it is a
 * whole value, an address wherever it stands.
 */
export async function forgetInAuditLog(
  tx: Executor,
  { userId, username, email, replacement }: Forgotten
): Promise<void> {
  await tx.update(auditLog).set({ actorName: replacement, ip: null }).where(eq(auditLog.actorId, userId))
  await tx
    .update(auditLog)
    .set({ viewedAs: replacement })
    .where(sql`lower(${auditLog.viewedAs}) = ${username.toLowerCase()}`)
  const ofUser = and(eq(auditLog.targetType, 'user'), eq(auditLog.targetId, String(userId)))
  await tx
    .update(auditLog)
    .set({ before: withoutPerson(auditLog.before, replacement), after: withoutPerson(auditLog.after, replacement) })
    .where(ofUser)
  // A ticket that was deleted stands there whole: its words and its phone number are the sender's.
  await tx
    .update(auditLog)
    .set({ before: null, after: null })
    .where(and(eq(auditLog.targetType, 'ticket'), sql`lower(${auditLog.before} ->> 'email') = ${email.toLowerCase()}`))
  // The name and the networks of a key say what the person does, and from where.
  await tx
    .update(auditLog)
    .set({ before: null, after: null })
    .where(and(eq(auditLog.targetType, 'api_key'), eq(auditLog.actorId, userId)))
  for (const [pattern, replaced] of [
    [`"${literal(username)}"`, JSON.stringify(replacement)],
    [literal(email), replacement]
  ] as const) {
    const clean = (column: Column) => sql`regexp_replace(${column}::text, ${pattern}, ${replaced}, 'gi')::jsonb`
    await tx
      .update(auditLog)
      .set({ before: clean(auditLog.before), after: clean(auditLog.after) })
      .where(sql`${auditLog.before}::text ~* ${pattern} or ${auditLog.after}::text ~* ${pattern}`)
  }
}

type Column = typeof auditLog.before | typeof auditLog.after

const withoutPerson = (column: Column, replacement: string) => sql`
  case when jsonb_typeof(${column}) = 'object' then (
    select coalesce(jsonb_object_agg(key, case when key = any(${sql.param(PERSONAL)}::text[]) and value <> 'null'
      then to_jsonb(${replacement}::text) else value end), '{}')
    from jsonb_each(${column})
  ) else ${column} end`

/** A text as a regular expression that matches it, within JSON. */
const literal = (text: string): string =>
  JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
