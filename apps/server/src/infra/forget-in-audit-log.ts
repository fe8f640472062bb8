import { isDeepStrictEqual } from 'node:util'
import type { Resource } from '@netlet/contract'
import type { Unit } from './command.ts'
import type { Executor } from './db/client.ts'
import { and, asc, eq, gt, inArray, lt, ne, or, sql } from './db/drizzle.ts'
import { removeRows } from './retention.ts'
import { auditLog } from './tables.ts'

type Forgotten = {
  userId: number
  username: string
  email: string
  /** Replaces the name and the address. */
  replacement: string
}

/** Fields of entries about a user that identify the person. */
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
 * Removes a person from the audit log: as actor, as viewed user, as target, and in the changed values. The entries and
 * the account's id stay, so that the history does. A name is replaced only if it is the whole value of a name field,
 * and a mail address only if no longer address contains it: the same word elsewhere means something else.
 */
export async function removePersonFromAuditLog(
  tx: Executor,
  { userId, username, email, replacement }: Forgotten
): Promise<void> {
  await tx.update(auditLog).set({ actorName: replacement, via: null, ip: null }).where(eq(auditLog.actorId, userId))
  await tx
    .update(auditLog)
    .set({ viewedAs: replacement })
    .where(sql`lower(${auditLog.viewedAs}) = ${username.toLowerCase()}`)
  const ofUser = and(eq(auditLog.targetType, 'user'), eq(auditLog.targetId, String(userId)))
  await tx
    .update(auditLog)
    .set({ before: withoutPerson(auditLog.before, replacement), after: withoutPerson(auditLog.after, replacement) })
    .where(ofUser)
  // A deleted ticket is stored whole, with its sender's words and phone number.
  await tx
    .update(auditLog)
    .set({ before: null, after: null })
    .where(
      and(
        eq(auditLog.targetType, 'ticket'),
        or(
          sql`lower(${auditLog.before} ->> 'email') = ${email.toLowerCase()}`,
          sql`${auditLog.before} ->> 'user_id' = ${String(userId)}`
        )
      )
    )
  // A key's name and networks say what the person does, and from where.
  await tx
    .update(auditLog)
    .set({ before: null, after: null })
    .where(and(eq(auditLog.targetType, 'api_key'), eq(auditLog.actorId, userId)))
  await forgetInOthers(tx, { userId, username, email, replacement })
}

/** Clears the values in entries about these targets. Who acted, and when, stays. */
export async function clearEntriesOf(tx: Executor, targetType: Resource, ids: readonly string[]): Promise<void> {
  await tx
    .update(auditLog)
    .set({ before: null, after: null })
    .where(and(eq(auditLog.targetType, targetType), inArray(auditLog.targetId, [...ids])))
}

const BATCH = 500

/**
 * Entries about anything else: found by their text in one pass, then changed value by value. Entries about another user
 * are left alone: their name or address belonged to that user then.
 */
async function forgetInOthers(tx: Executor, person: Forgotten): Promise<void> {
  const text = sql`lower(concat(${auditLog.before}::text, ' ', ${auditLog.after}::text))`
  // As PostgreSQL prints jsonb. The walk below decides about keys and other fields.
  const marks = [
    ...NAMES.map(field => `"${field}": ${JSON.stringify(person.username)}`),
    JSON.stringify(person.email).slice(1, -1)
  ]
  const aboutNoOtherUser = or(ne(auditLog.targetType, 'user'), eq(auditLog.targetId, String(person.userId)))
  const named = or(...marks.map(mark => sql`strpos(${text}, lower(${mark}::text)) > 0`))
  for (let last = 0; ;) {
    const rows = await tx
      .select({ id: auditLog.id, of: auditLog.targetType, before: auditLog.before, after: auditLog.after })
      .from(auditLog)
      .where(and(gt(auditLog.id, last), aboutNoOtherUser, named))
      .orderBy(asc(auditLog.id))
      .limit(BATCH)
      // Another person in the same entry may be removed at the same time.
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

/** Fields that hold an account's name, at any depth. In entries about servers they hold a proxy's user instead. */
const NAMES = ['username', 'holder_username']

type Column = typeof auditLog.before | typeof auditLog.after

const withoutPerson = (column: Column, replacement: string) => sql`
  case when jsonb_typeof(${column}) = 'object' then (
    select coalesce(jsonb_object_agg(key, case when key = any(${sql.param(PERSONAL)}::text[]) and value <> 'null'
      then to_jsonb(${replacement}::text) else value end), '{}')
    from jsonb_each(${column})
  ) else ${column} end`

/** How a person is named, and what replaces it. */
type Named = { username: string; email: string; replacement: string }

/**
 * Removes a person from a JSON value: the username if it is the whole value of one of `nameFields`, at any depth, and
 * the mail address in any text unless it is part of a longer address. Keys and other words stay.
 */
export function withoutPersonIn(value: unknown, nameFields: readonly string[], person: Named): unknown {
  const username = person.username.toLowerCase()
  const address = wholeAddress(person.email)
  const walk = (inner: unknown, field?: string): unknown => {
    if (typeof inner === 'string') {
      const isName = field !== undefined && nameFields.includes(field) && inner.toLowerCase() === username
      return isName ? person.replacement : inner.replace(address, () => person.replacement)
    }
    if (Array.isArray(inner)) return inner.map(item => walk(item))
    if (inner === null || typeof inner !== 'object') return inner
    return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, walk(item, key)]))
  }
  return walk(value)
}

/** Matches no part of a longer address. An apostrophe belongs to one only after a letter. */
function wholeAddress(email: string): RegExp {
  const escaped = email.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`)
  return new RegExp(String.raw`(?<![\p{L}\p{N}_+.%\-]'*)${escaped}(?![\p{L}\p{N}_\-]|\.[\p{L}\p{N}])`, 'giu')
}

/** Removes audit entries older than `before`. @returns how many, at most `limit` */
export const removeAuditEntries = (unit: Unit, before: Date, limit: number): Promise<number> =>
  removeRows(unit, auditLog, lt(auditLog.at, before), limit)
