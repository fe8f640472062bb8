import type { Executor } from '../../infra/db/client.ts'
import { storableJson } from '../../infra/db/storable-json.ts'
import type { Caller } from '../../infra/http/mount.ts'
import { auditLog } from './tables.ts'

export type AuditEntry = {
  /** An imperative of the field: 'ban user', 'extend order'. */
  action: string
  targetType: string
  targetId: string | number
  before?: unknown
  after?: unknown
}

/** Writes what an administrator (or the system: null) changed. Call it in the same transaction as the change. */
export async function record(
  tx: Executor,
  caller: Pick<Caller, 'id' | 'username'> | null,
  entry: AuditEntry,
  ip?: string
): Promise<void> {
  await tx.insert(auditLog).values({
    actorId: caller?.id ?? null,
    actorName: caller?.username ?? 'system',
    action: entry.action,
    targetType: entry.targetType,
    targetId: String(entry.targetId),
    before: storableJson(withoutSecrets(entry.before)),
    after: storableJson(withoutSecrets(entry.after)),
    ip: ip ?? null
  })
}

const SECRET = /password|secret|token|(^|_)key$|hash/i

/** What was secret stays so in the log: only that it was set is written. */
function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (value instanceof Date) return value.toISOString()
  if (value === null || typeof value !== 'object') return value ?? null
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, SECRET.test(key) && inner ? '[secret]' : withoutSecrets(inner)])
  )
}
