import { SECRET_SETTINGS, Settings } from '@netlet/contract'
import type { Executor } from '../../platform/db/client.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { settings } from './tables.ts'

const secretKeys: ReadonlySet<string> = new Set(SECRET_SETTINGS)

/** All web settings, secrets opened, defaults where nothing was saved. One query. For the server's own use. */
export async function readSettings(db: Executor, secrets: Secrets): Promise<Settings> {
  const rows = await db.select().from(settings)
  const saved: Record<string, unknown> = {}
  for (const row of rows) saved[row.key] = row.secret ? secrets.open(row.secret) : row.value
  return Settings.parse(saved)
}

/** Saves some settings; secrets are sealed. */
export async function writeSettings(
  db: Executor,
  secrets: Secrets,
  values: Partial<Settings>,
  at: Date
): Promise<void> {
  for (const [key, value] of Object.entries(values)) {
    const row = secretKeys.has(key)
      ? { value: null, secret: secrets.seal(String(value)), updatedAt: at }
      : { value, secret: null, updatedAt: at }
    await db
      .insert(settings)
      .values({ key, ...row })
      .onConflictDoUpdate({ target: settings.key, set: row })
  }
}
