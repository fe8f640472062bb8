import { Client } from 'pg'
import type { Config } from '../infra/config.ts'
import { closeDatabase, openDatabase } from '../infra/db/client.ts'
import { appliedMigration, knownMigrations, StartupError } from '../infra/db/migrate.ts'
import { checkPooler } from '../infra/db/pooler.ts'
import { hasCaughtUp } from '../infra/db/replica.ts'
import { reasonOf } from '../infra/text.ts'
import { fine, note, wrong, type Finding } from './finding.ts'

const OLDEST_VERSION = 15
const ANSWER_MS = 10_000
/** Both clocks make times that are compared. */
const MOST_SECONDS_OFF = 2
/** Besides the pool: notifications of changes and of jobs, and session locks. */
const BESIDE_POOL = 3

type Facts = {
  version: number
  encoding: string
  role: string
  creates: boolean
  trigram: boolean
  read_only: boolean
  now: Date
  most: number
  used: number
}

/**
 * Looks at the database without changing it.
 * @returns what was found, and whether it has the schema of this code
 */
export async function checkDatabase(config: Config): Promise<{ findings: Finding[]; isMigrated: boolean }> {
  const client = new Client({
    connectionString: config.sessionUrl,
    application_name: 'doctor',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS
  })
  client.on('error', () => {})
  const name = config.pooled ? 'DATABASE_SESSION_URL' : 'DATABASE_URL'
  try {
    await client.connect()
  } catch (error) {
    return {
      findings: [
        wrong(`The database does not respond: ${reasonOf(error)}. Check ${name} and that PostgreSQL is running.`)
      ],
      isMigrated: false
    }
  }
  try {
    const asked = Date.now()
    const { rows } = await client.query<Facts>(`
      select current_setting('server_version_num')::int / 10000 as version, current_user as role,
        pg_encoding_to_char((select encoding from pg_database where datname = current_database())) as encoding,
        has_database_privilege(current_database(), 'create') as creates,
        exists (select from pg_available_extensions where name = 'pg_trgm') as trigram,
        pg_is_in_recovery() or current_setting('transaction_read_only')::bool as read_only,
        clock_timestamp() as now, current_setting('max_connections')::int as most,
        (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`)
    const [facts] = rows
    if (!facts) throw new Error('the database returned nothing')
    const off = Math.abs(facts.now.getTime() - (asked + Date.now()) / 2) / 1000
    const applied = await appliedMigration(client)
    const newest = Math.max(...knownMigrations())
    return {
      findings: [
        ...judge(facts, off, config),
        ageOf(applied, newest),
        ...(config.pooled ? [await checkPool(config)] : []),
        ...(config.replicaUrl ? [await checkReplica(config.sessionUrl, config.replicaUrl)] : [])
      ],
      isMigrated: applied === newest
    }
  } catch (error) {
    return { findings: [wrong(`Could not check the database: ${reasonOf(error)}.`)], isMigrated: false }
  } finally {
    await client.end().catch(() => {})
  }
}

function judge(facts: Facts, secondsOff: number, { connections }: Config): Finding[] {
  const { version, role, most, used } = facts
  const needed = connections + BESIDE_POOL
  return [
    version >= OLDEST_VERSION
      ? fine(`The database is PostgreSQL ${version}; ${used} of ${most} connections are in use.`)
      : wrong(`The database is PostgreSQL ${version}. The shop needs ${OLDEST_VERSION} or later.`),
    ...(facts.encoding === 'UTF8'
      ? []
      : [wrong(`The database has the encoding ${facts.encoding}. Create it with UTF8.`)]),
    facts.creates
      ? fine(`The role ${role} can create tables.`)
      : wrong(`The role ${role} cannot create tables. Run: alter database NAME owner to ${role}`),
    ...(facts.trigram ? [] : [wrong('PostgreSQL lacks the extension pg_trgm. Install postgresql-contrib.')]),
    ...(facts.read_only ? [wrong('The database is read-only, like a standby. Set DATABASE_URL to the primary.')] : []),
    ...(used + needed > most
      ? [note(`Two more processes may need ${2 * needed} connections. Lower DATABASE_CONNECTIONS, or use PgBouncer.`)]
      : []),
    secondsOff <= MOST_SECONDS_OFF
      ? fine('The clocks of the database and this machine match.')
      : wrong(
          `The clocks of the database and this machine are ${secondsOff.toFixed(0)} seconds apart. Synchronise both.`
        )
  ]
}

function ageOf(applied: number, newest: number): Finding {
  if (applied === 0) return fine('The database is empty. The first start creates the tables.')
  if (applied > newest) return wrong('The database belongs to a newer version of Netlet. Update the code.')
  return applied === newest
    ? fine('The database has the schema of this version.')
    : note('The database belongs to an earlier version. The next start migrates it. Back it up first.')
}

async function checkPool({ databaseUrl, sessionUrl }: Config): Promise<Finding> {
  const db = openDatabase(databaseUrl, { max: 1, sessionUrl, pooled: true, answerMs: ANSWER_MS })
  let warning: string | undefined
  try {
    await checkPooler(db, { warn: text => (warning = text) })
    return warning === undefined ? fine('The pooler responds.') : note(warning)
  } catch (error) {
    return wrong(
      error instanceof StartupError ? error.message : `The pooler of DATABASE_URL fails: ${reasonOf(error)}.`
    )
  } finally {
    await closeDatabase(db).catch(() => {})
  }
}

async function checkReplica(primaryUrl: string, replicaUrl: string): Promise<Finding> {
  const primary = openDatabase(primaryUrl, { max: 1, answerMs: ANSWER_MS })
  const replica = openDatabase(replicaUrl, { max: 1, answerMs: ANSWER_MS })
  try {
    return (await hasCaughtUp(primary, replica, performance.now() + ANSWER_MS))
      ? fine('The replica has what the database has.')
      : note('The replica is more than 10 seconds behind. Lists are read from the database meanwhile.')
  } catch (error) {
    return wrong(`The replica of DATABASE_REPLICA_URL cannot be read: ${reasonOf(error)}.`)
  } finally {
    for (const db of [primary, replica]) await closeDatabase(db).catch(() => {})
  }
}
