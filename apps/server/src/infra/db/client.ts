import { sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { PgDialect } from 'drizzle-orm/pg-core'
import { Pool, types } from 'pg'
import { PreparingSession } from './session.ts'
import { SILENCE, WatchedClient } from './watched-client.ts'

// int8 (counts and sums) as numbers: ours stay far below 2^53, and a string that looks like a number invites mistakes.
types.setTypeParser(types.builtins.INT8, Number)

type Schema = Record<string, never>
/** The pool: each statement may run on another connection. */
export type Database = NodePgDatabase<Schema> & { $client: Pool }
export type Transaction = Parameters<Parameters<NodePgDatabase<Schema>['transaction']>[0]>[0]
/** Either of them: what a query or a command takes when it does not care. */
export type Executor = NodePgDatabase<Schema> | Transaction

/** Connections of one process, besides those of its job queue and its change feed. */
export const POOL_MAX = 20

/** A query that runs this long is a bug or an attack; jobs that need longer work in batches. */
const STATEMENT_MS = 30_000
/** How much longer a query waits for an answer than the server works on it. */
const ANSWER_MS = 5_000

/**
 * What a connection needs so that neither side waits for ever for one that has vanished without a word: a NAT or a load
 * balancer that restarts forgets its connections. The server drops our locks with the session.
 */
export const SESSION_OPTIONS =
  '-c timezone=UTC -c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3 -c tcp_user_timeout=60000'

const clients = new WeakMap<object, WatchedClient>()

/**
 * Opens a pool. Call `closeDatabase` at the end.
 * @param answerMs how long a query waits for an answer; then its connection is thrown away
 */
export function openDatabase(
  url: string,
  { max = POOL_MAX, answerMs = STATEMENT_MS + ANSWER_MS }: { max?: number; answerMs?: number } = {}
): Database {
  const pool = new Pool({
    connectionString: url,
    Client: WatchedClient,
    max,
    application_name: 'netlet',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    statement_timeout: STATEMENT_MS,
    query_timeout: answerMs,
    idle_in_transaction_session_timeout: 30_000,
    connectionTimeoutMillis: 10_000,
    // What nobody uses is closed, whether it still answers or not.
    idleTimeoutMillis: 10_000,
    // The inventory's functions are short: compiling them costs far more than running them.
    options: `-c jit=off ${SESSION_OPTIONS}`
  })
  // An idle connection that the server closes is not an error of ours: the pool opens another.
  pool.on('error', () => {})
  // Nor is one that ends amid a transaction, between two queries: the next query fails, and its caller is told. Without
  // a listener the process would end.
  pool.on('connect', client => client.on('error', () => {}))
  const db: Database = drizzle({ client: pool, casing: 'snake_case' })
  // Drizzle's own takes a connection and never gives it back where BEGIN fails, as when the server has just gone: after
  // a few restarts of the server the pool would be empty for good. One dialect for all: it remembers the names of columns.
  const dialect = new PgDialect({ casing: 'snake_case' })
  db.transaction = async (work, config) => {
    const client = await pool.connect()
    let broken = false
    try {
      return await new PreparingSession(client, dialect).transaction(async tx => {
        if (client instanceof WatchedClient) clients.set(tx, client)
        return work(tx)
      }, config)
    } catch (error) {
      broken = isConnectionLoss(error)
      throw error
    } finally {
      if (client instanceof WatchedClient) client.longestMs = undefined
      client.release(broken)
    }
  }
  return db
}

/** Lets the statements of a transaction run for up to `milliseconds`: for the few that look through whole tables. */
export async function allowLongStatements(tx: Transaction, milliseconds: number): Promise<void> {
  await tx.execute(sql`set local statement_timeout = ${sql.raw(String(Math.trunc(milliseconds)))}`)
  const client = clients.get(tx)
  if (client) client.longestMs = milliseconds + ANSWER_MS
}

/**
 * Reads what may take long, and does without it where it does.
 * @param milliseconds for each of its statements
 * @returns null where the database cancelled one, since it took too long
 */
export async function readWithin<T>(
  db: Database,
  milliseconds: number,
  read: (tx: Executor) => Promise<T>
): Promise<T | null> {
  try {
    return await db.transaction(
      async tx => {
        await allowLongStatements(tx, milliseconds)
        return read(tx)
      },
      { accessMode: 'read only' }
    )
  } catch (error) {
    if (sqlState(error) === '57014') return null
    throw error
  }
}

export async function closeDatabase(db: Database): Promise<void> {
  await db.$client.end()
}

/** PostgreSQL's SQLSTATE of an error, also where drizzle wrapped it; undefined for other errors. */
export function sqlState(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    const code = (e as { code?: unknown }).code
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code
  }
  return undefined
}

/** The constraint that an error is about, if it is about one. */
export function violatedConstraint(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    const name = (e as { constraint?: unknown }).constraint
    if (typeof name === 'string') return name
  }
  return undefined
}

/** The network's codes: refused, reset, broken, no route, no answer, or no address for the name, as while its server restarts. */
const NETWORK_FAILURE = /^(ECONN|EPIPE$|ETIMEDOUT$|EHOST|ENET|ENOTFOUND$|EAI_)/

/** The database is away for a moment: the caller may try again. */
function isConnectionLoss(error: unknown): boolean {
  for (let e = error; e instanceof Error; e = e.cause) {
    const code = (e as { code?: unknown }).code
    if (typeof code === 'string' && (NETWORK_FAILURE.test(code) || code === '57P01' || code === '57P03')) return true
    if (e.message === SILENCE) return true
    if (
      /connection terminated|connection error and is not queryable|timeout exceeded when trying to connect/i.test(
        e.message
      )
    )
      return true
  }
  return false
}

/** The same again, later, may succeed: the database was away, out of something, or chose to end this transaction. */
export function isTemporaryFailure(error: unknown): boolean {
  const state = sqlState(error) ?? ''
  // 57014: the statement took too long, and would again. 25006: read-only, as a database is while it fails over.
  return isConnectionLoss(error) || state === '25006' || (/^(08|40|53|55|57)/.test(state) && state !== '57014')
}
