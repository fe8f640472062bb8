import type { Resource } from '@netlet/contract'
import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq, gt, inArray, ne, or, sql } from 'drizzle-orm'
import type { Executor } from './db/client.ts'
import { withoutPersonIn } from './person-in-json.ts'
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
 * changed. The entries stay, with the account's id, so that what was done can still be told. What names nobody stays as it
 * is, whatever the person was called: a name counts as the value of a field of account names, an address wherever it stands
 * whole.
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
  await forgetInOthers(tx, { userId, username, email, replacement })
}

/** Clears what entries say of these targets, whoever made them. That they were made, by whom and when, stays. */
export async function clearEntriesOf(tx: Executor, targetType: Resource, ids: readonly string[]): Promise<void> {
  await tx
    .update(auditLog)
    .set({ before: null, after: null })
    .where(and(eq(auditLog.targetType, targetType), inArray(auditLog.targetId, [...ids])))
}

const BATCH = 500

/**
 * In entries about anything else. They are found by their text, in one pass, and changed value by value. What an entry about
 * another user names is that user's own: a name or an address of theirs before somebody else had it.
 */
async function forgetInOthers(tx: Executor, person: Forgotten): Promise<void> {
  const text = sql`lower(concat(${auditLog.before}::text, ' ', ${auditLog.after}::text))`
  // As jsonb is written; keys and other fields are left to the walk.
  const marks = [
    ...NAMES.map(field => `"${field}": ${JSON.stringify(person.username)}`),
    JSON.stringify(person.email).slice(1, -1)
  ]
  const ofNoOther = or(ne(auditLog.targetType, 'user'), eq(auditLog.targetId, String(person.userId)))
  const named = or(...marks.map(mark => sql`strpos(${text}, lower(${mark}::text)) > 0`))
  for (let last = 0; ;) {
    const rows = await tx
      .select({ id: auditLog.id, of: auditLog.targetType, before: auditLog.before, after: auditLog.after })
      .from(auditLog)
      .where(and(gt(auditLog.id, last), ofNoOther, named))
      .orderBy(asc(auditLog.id))
      .limit(BATCH)
      // Another person of the same entry may be forgotten at once.
      .for('update')
    for (const { id, of, ...entry } of rows) {
      const fields = of === 'server' ? [] : NAMES
      const [before, after] = [entry.before, entry.after].map(value => withoutPersonIn(value, fields, person))
      if (isDeepStrictEqual({ before, after }, entry)) continue
      await tx.update(auditLog).set({ before, after }).where(eq(auditLog.id, id))
    }
    if (rows.length < BATCH) return
    last = rows.at(-1)?.id ?? last
  }
}

/** Fields that hold an account's name, at any depth. Those of servers are users of a proxy. */
const NAMES = ['username', 'holder_username']

type Column = typeof auditLog.before | typeof auditLog.after

const withoutPerson = (column: Column, replacement: string) => sql`
  case when jsonb_typeof(${column}) = 'object' then (
    select coalesce(jsonb_object_agg(key, case when key = any(${sql.param(PERSONAL)}::text[]) and value <> 'null'
      then to_jsonb(${replacement}::text) else value end), '{}')
    from jsonb_each(${column})
  ) else ${column} end`
