import { eq, isNotNull, notInArray } from '../../infra/db/drizzle.ts'
import { command } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { settings } from './tables.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import { StartupError } from '../../infra/db/migrate.ts'
import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { countOld, resealAll, type SealedTable, whole } from '../../infra/reseal.ts'
import { canOpen, randomToken, type Secrets, withKept } from '../../infra/secrets.ts'

const KEY = 'app_secret_check'
/** The value that the former APP_SECRET sealed, since it was changed. */
const FORMER = 'app_secret_former_check'
/** The keys that outlive a change of APP_SECRET: of HMACs, links in mails and codes. A JSON list; the first one makes. */
const KEPT = 'kept_keys'

/** A mail that was sealed with the former secret may wait so long for the mail service. */
const MAIL_WAITS = DAY

const WRONG_SECRET =
  'APP_SECRET is not the one that sealed the secrets of this database. Set the one that it had, see docs/OPERATIONS.md.'

const WRONG_SECRETS =
  'Neither APP_SECRET nor APP_SECRET_PREVIOUS is the one that sealed the secrets of this database. Set APP_SECRET_PREVIOUS to the one that it had, see docs/OPERATIONS.md.'

/** The check values are sealed again after all else. */
export const sealedSettings: SealedTable = {
  table: settings,
  key: 'key',
  columns: { secret: whole },
  where: notInArray(settings.key, [KEY, FORMER])
}

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
  return judged.length === 0 || judged.some(({ secret }) => secret !== null && canOpen(secrets, secret))
}

/**
 * Checks APP_SECRET at a start, and seals the value if there is none. Two first starts may have different secrets: only
 * the one whose value is kept goes on.
 * @returns the context's secrets with the kept keys of the database
 * @throws StartupError if neither it nor APP_SECRET_PREVIOUS is the one of this database
 */
export async function checkAppSecret(ctx: AppContext): Promise<Secrets> {
  const { db, secrets, config } = ctx
  const wrong = secrets.previous ? WRONG_SECRETS : WRONG_SECRET
  if (!(await opensSecrets(db, secrets))) throw new StartupError(wrong)
  // In a database from before the kept keys, APP_SECRET was the key.
  const before = (await readCheck(db, KEY)) ? [config.appSecret, config.formerAppSecret] : []
  const made = JSON.stringify([randomToken(), ...before])
  await command(ctx, SYSTEM, ({ tx, now }) =>
    tx
      .insert(settings)
      .values(
        [KEY, KEPT].map(key => ({ key, value: null, secret: secrets.seal(key === KEPT ? made : key), updatedAt: now }))
      )
      .onConflictDoNothing({ target: settings.key })
  )
  if (!(await opensSecrets(db, secrets))) throw new StartupError(wrong)
  await warnOfPrevious(ctx)
  const kept = await readCheck(db, KEPT)
  if (!kept) throw new Error('the database has no kept keys')
  return withKept(secrets, JSON.parse(secrets.open(kept.secret)) as [string, ...string[]])
}

async function warnOfPrevious({ db, secrets: { previous }, log }: AppContext): Promise<void> {
  if (!previous) return
  const checks = await Promise.all([KEY, FORMER].map(key => readCheck(db, key)))
  if (!checks.some(check => check && canOpen(previous, check.secret)))
    log.warn(
      'APP_SECRET_PREVIOUS was never the APP_SECRET of this database. Correct it, unless it is the next APP_SECRET.'
    )
}

async function readCheck(db: Executor, key: string): Promise<{ secret: Buffer; at: Date } | undefined> {
  const [row] = await db
    .select({ secret: settings.secret, at: settings.updatedAt })
    .from(settings)
    .where(eq(settings.key, key))
  return row?.secret ? { secret: row.secret, at: row.at } : undefined
}

/**
 * Seals all that APP_SECRET_PREVIOUS sealed with APP_SECRET, and at last the check value. A process that still has the
 * former secret may seal more meanwhile; the next run finds it.
 */
async function reseal(ctx: AppContext, tables: SealedTable[]): Promise<void> {
  if (!ctx.secrets.previous) return
  const count = await resealAll(ctx, tables)
  await command(ctx, SYSTEM, async ({ tx, now }) => {
    const [check] = await tx.select().from(settings).where(eq(settings.key, KEY)).for('update')
    const again = check?.secret ? ctx.secrets.resealed(check.secret) : null
    if (check && again) {
      const former = { value: null, secret: check.secret, updatedAt: now }
      await tx
        .insert(settings)
        .values({ key: FORMER, ...former })
        .onConflictDoUpdate({ target: settings.key, set: former })
    }
    if (again || count > 0)
      await tx
        .update(settings)
        .set({ updatedAt: now, ...(again ? { secret: again } : {}) })
        .where(eq(settings.key, KEY))
  })
  if (count > 0) ctx.log.info({ count }, 'stored secrets were sealed with the new APP_SECRET')
}

/**
 * How far the change of APP_SECRET is; null if no former one is given.
 * @returns `left`: rows that need APP_SECRET_PREVIOUS; `removable_at`: when nothing needs it any more, null if unknown
 */
export async function secretChange(
  ctx: Pick<AppContext, 'db' | 'secrets'>,
  tables: SealedTable[]
): Promise<{ left: number; removable_at: string | null } | null> {
  if (!ctx.secrets.previous) return null
  const check = await readCheck(ctx.db, KEY)
  const isCurrent = check !== undefined && ctx.secrets.resealed(check.secret) === null
  const left = (await countOld(ctx, tables)) + (isCurrent ? 0 : 1)
  return {
    left,
    removable_at: left === 0 && check ? new Date(check.at.getTime() + MAIL_WAITS).toISOString() : null
  }
}

const resealQueue = queue<object>('reseal-secrets', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const settingsJobs = (tables: SealedTable[]): Job[] => [
  job(resealQueue, {
    purpose: 'After a change of APP_SECRET: encrypts all stored secrets with the new one.',
    cron: '*/5 * * * *',
    atStart: true,
    run: ctx => reseal(ctx, tables)
  })
]
