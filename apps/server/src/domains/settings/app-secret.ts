import { isNotNull } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { StartupError } from '../../infra/db/migrate.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { Secrets } from '../../infra/secrets.ts'
import { settings } from './tables.ts'

const KEY = 'app_secret_check'

const WRONG_SECRET =
  'APP_SECRET is not the one that sealed the secrets of this database. Set the one that it had, see docs/OPERATIONS.md.'

/**
 * Whether these secrets are those of the database: they open the value that its first start sealed. A database without
 * that value is judged by its secret settings, of which one that opens is enough.
 */
export async function opensSecrets(db: Executor, secrets: Secrets): Promise<boolean> {
  const sealed = await db
    .select({ key: settings.key, secret: settings.secret })
    .from(settings)
    .where(isNotNull(settings.secret))
  const check = sealed.filter(({ key }) => key === KEY)
  const judged = check.length > 0 ? check : sealed
  return judged.length === 0 || judged.some(({ secret }) => secret !== null && opens(secrets, secret))
}

function opens(secrets: Secrets, sealed: Buffer): boolean {
  try {
    secrets.open(sealed)
    return true
  } catch {
    return false
  }
}

/**
 * Checks APP_SECRET at a start, and seals the value if there is none. Two first starts may have different secrets: only
 * the one whose value is kept goes on.
 * @throws StartupError if it is not the one of this database
 */
export async function checkAppSecret(ctx: AppContext): Promise<void> {
  const { db, secrets } = ctx
  if (!(await opensSecrets(db, secrets))) throw new StartupError(WRONG_SECRET)
  await command(ctx, SYSTEM, ({ tx, now }) =>
    tx
      .insert(settings)
      .values({ key: KEY, value: null, secret: secrets.seal(KEY), updatedAt: now })
      .onConflictDoNothing({ target: settings.key })
  )
  if (!(await opensSecrets(db, secrets))) throw new StartupError(WRONG_SECRET)
}
