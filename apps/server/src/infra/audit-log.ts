import type { Resource } from '@netlet/contract'
import { and, eq, inArray } from './db/drizzle.ts'
import type { Actor } from './actor.ts'
import type { Executor } from './db/client.ts'
import { storableJson } from './text.ts'
import { auditLog } from './tables.ts'

export type AuditAction = `${Resource}.${string}`
export type AuditEntry = {
  action: AuditAction
  targetId: string | number
  before?: unknown
  after?: unknown
}

/** Records what a command changed, in its transaction. Values are masked if the field's name is that of a secret. */
export async function insertAuditEntries(tx: Executor, by: Actor, at: Date, entries: AuditEntry[]): Promise<void> {
  if (entries.length === 0) return
  const who = namesOf(by)
  await tx.insert(auditLog).values(
    entries.map(({ action, targetId, before, after }) => ({
      ...who,
      at,
      action,
      targetType: action.slice(0, action.indexOf('.')),
      targetId: String(targetId),
      before: storableJson(withoutSecrets(withoutVersion(before))),
      after: storableJson(withoutSecrets(withoutVersion(after)))
    }))
  )
}

/** How often these actions of one resource changed a row. Exact under the lock that they take on the row. */
export const countChanges = (tx: Executor, targetId: number, actions: readonly AuditAction[]): Promise<number> => {
  const targetType = actions[0]?.split('.')[0] ?? ''
  const of = and(eq(auditLog.targetType, targetType), eq(auditLog.targetId, String(targetId)))
  return tx.$count(auditLog, and(of, inArray(auditLog.action, [...actions])))
}

/** An administrator who views the shop as a user is the actor. */
function namesOf(by: Actor) {
  if (by.kind === 'system') return { actorId: null, actorName: 'system', viewedAs: null, via: null, ip: null }
  if (by.kind === 'visitor') return { actorId: null, actorName: 'visitor', viewedAs: null, via: null, ip: by.ip }
  const { impersonator } = by
  const via = by.apiKey?.name ?? null
  return impersonator
    ? { actorId: impersonator.id, actorName: impersonator.username, viewedAs: by.username, via, ip: by.ip }
    : { actorId: by.id, actorName: by.username, viewedAs: null, via, ip: by.ip }
}

/** The version is a hash of the fields, so it adds nothing. */
function withoutVersion(row: unknown): unknown {
  if (typeof row !== 'object' || row === null || !('version' in row)) return row
  const { version: _version, ...fields } = row
  return fields
}

const SECRET = /passw|secret|token|hash|credential|authorization|cookie|(^|_)((api|ssh)?key|pass|passphrase|pwd)$/i
/** Splits camel case first, so that `apiKey` counts as a key and `monkey` does not. */
export const isSecret = (name: string): boolean => SECRET.test(name.replace(/([a-z\d])([A-Z])/g, '$1_$2'))

/** A flag such as `has_password` is not a secret. */
const hides = (name: string, value: unknown): boolean =>
  isSecret(name) && Boolean(value) && !(typeof value === 'boolean' && /^has(_|[A-Z])/.test(name))

/** Replaces secrets, so that the log shows only that they were set. */
function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (value instanceof Date) return value.toISOString()
  if (value === null || typeof value !== 'object') return value ?? null
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, hides(key, inner) ? '[secret]' : withoutSecrets(inner)])
  )
}
