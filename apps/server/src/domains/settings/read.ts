import { SECRET_SETTINGS, Settings } from '@netlet/contract'
import { eq, inArray, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { Secrets } from '../../infra/secrets.ts'
import { settings } from './tables.ts'

const secretKeys: ReadonlySet<string> = new Set(SECRET_SETTINGS)

/** Must this setting never reach a browser? */
export const isSecret = (key: string): boolean => secretKeys.has(key)

/**
 * All settings with opened secrets and defaults, in one query, for the server's own use. An unreadable value counts as
 * not saved, so that the shop keeps running and an administrator can enter it again.
 */
export async function readSettings(db: Executor, secrets: Secrets): Promise<Settings> {
  // As text, because the query builder would parse a JSON string again and round a client id of 18 digits.
  const rows = await db
    .select({ key: settings.key, value: sql<string | null>`${settings.value}::text`, secret: settings.secret })
    .from(settings)
  const saved = new Map(rows.map(row => [row.key, row]))
  const values = Object.entries(Settings.shape).map(([key, field]) => {
    const row = saved.get(key)
    const value = row?.secret ? openOrNothing(secrets, row.secret) : parseJson(row?.value)
    return [key, valueOf(field, value)]
  })
  return Object.fromEntries(values) as Settings
}

type Plain = Exclude<keyof Settings, (typeof SECRET_SETTINGS)[number]>

/** Some settings that are not secret, for code that reads them with each reply. */
export async function readSome<K extends Plain>(db: Executor, keys: readonly K[]): Promise<Pick<Settings, K>> {
  const rows = await db
    .select({ key: settings.key, value: sql<string | null>`${settings.value}::text` })
    .from(settings)
    .where(inArray(settings.key, [...keys]))
  const saved = new Map(rows.map(row => [row.key, parseJson(row.value)]))
  return Object.fromEntries(keys.map(key => [key, valueOf(Settings.shape[key], saved.get(key))])) as Pick<Settings, K>
}

/** The saved value, or the default if there is none or it is no longer valid. */
function valueOf(field: (typeof Settings.shape)[keyof Settings], saved: unknown): unknown {
  const parsed = field.safeParse(saved ?? undefined)
  return parsed.success ? parsed.data : field.parse(undefined)
}

const parseJson = (text: string | null | undefined): unknown => (typeof text === 'string' ? JSON.parse(text) : text)

/** When a setting was last saved; null if never. */
export async function savedAt(db: Executor, key: keyof Settings): Promise<Date | null> {
  const [row] = await db.select({ at: settings.updatedAt }).from(settings).where(eq(settings.key, key))
  return row?.at ?? null
}

/** In a database restored under another APP_SECRET, secrets cannot be opened. */
function openOrNothing(secrets: Secrets, sealed: Buffer): string | undefined {
  try {
    return secrets.open(sealed)
  } catch {
    return undefined
  }
}

/** Saves settings for the program itself, unchecked: a new shop, the demo, tests. */
export const writeSettings = (ctx: AppContext, values: Partial<Settings>): Promise<void> =>
  command(ctx, SYSTEM, unit => upsertSettings(unit, ctx.secrets, values))

/** Saves some settings and seals secrets. */
export async function upsertSettings({ tx, now }: Unit, secrets: Secrets, values: Partial<Settings>): Promise<void> {
  for (const [key, value] of Object.entries(values)) {
    const row = isSecret(key)
      ? { value: null, secret: secrets.seal(String(value)), updatedAt: now }
      : { value, secret: null, updatedAt: now }
    await tx
      .insert(settings)
      .values({ key, ...row })
      .onConflictDoUpdate({ target: settings.key, set: row })
  }
}
