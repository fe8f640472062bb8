import { lt } from './db/drizzle.ts'
import type { Unit } from './command.ts'
import { removeRows } from './retention.ts'
import { auditLog } from './tables.ts'

/** Removes audit entries older than `before`. @returns how many, at most `limit` */
export const removeAuditEntries = (unit: Unit, before: Date, limit: number): Promise<number> =>
  removeRows(unit, auditLog, lt(auditLog.at, before), limit)
