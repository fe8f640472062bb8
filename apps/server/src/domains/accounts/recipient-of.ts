import { and, asc, eq, inArray } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { auditLog } from '../../infra/tables.ts'
import type { Recipient } from '../mail/index.ts'
import type { UserRow } from './present-user.ts'

type Held = { value: string; from: Date; until: Date | null }

/** The names and addresses under which a user got mails, and when, according to the audit log. */
export async function recipientOf(
  db: Executor,
  user: Pick<UserRow, 'id' | 'username' | 'email' | 'createdAt'>
): Promise<Recipient> {
  const changes = await db
    .select({ at: auditLog.at, before: auditLog.before, after: auditLog.after })
    .from(auditLog)
    .where(
      and(
        eq(auditLog.targetType, 'user'),
        eq(auditLog.targetId, String(user.id)),
        inArray(auditLog.action, ['user.edit', 'user.change_email'])
      )
    )
    .orderBy(asc(auditLog.id))
  const held = (field: 'username' | 'email'): Held[] => {
    const values: Held[] = []
    let from = user.createdAt
    for (const { at, before, after } of changes) {
      const former = textOf(before, field)
      if (former === undefined || textOf(after, field) === undefined) continue
      values.push({ value: former, from, until: at })
      from = at
    }
    return [...values, { value: user[field], from, until: null }]
  }
  const names = held('username')
  return {
    username: user.username,
    email: user.email,
    since: user.createdAt,
    namedSince: names.at(-1)?.from ?? user.createdAt,
    names: names.map(({ value }) => value),
    addresses: held('email').map(({ value, ...when }) => ({ address: value, ...when }))
  }
}

function textOf(row: unknown, field: string): string | undefined {
  const value: unknown = typeof row === 'object' && row !== null && field in row ? Reflect.get(row, field) : undefined
  return typeof value === 'string' ? value : undefined
}
