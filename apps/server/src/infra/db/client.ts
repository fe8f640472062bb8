import { type NodePgDatabase, NodePgSession, drizzle } from 'drizzle-orm/node-postgres'
import { PgDialect, type PreparedQueryConfig } from 'drizzle-orm/pg-core'
import { Client, type ClientBase, Pool, type PoolClient, type QueryConfig, types } from 'pg'
import { sql } from './drizzle.ts'
import { SharedSession } from './shared-session.ts'

/** The driver's error message for a query without an answer. */
const SILENCE = 'Query read timeout'

/** A connection that closes if a query gets no answer. The driver would keep it, so the ROLLBACK would wait too. */
class WatchedClient extends Client {
  /** How long a query may take if it is more than the pool's `query_timeout` (ms). */
  longestMs: number | undefined

  // The driver's overloads do not fit one signature.
  // oxlint-disable-next-line typescript/no-explicit-any
  override query(...[first, ...rest]: any[]): any {
    const result: unknown = super.query(this.#withPatience(first) as QueryConfig, ...rest)
    if (result instanceof Promise) {
      // Closes the connection before the caller sees the error.
      result.catch((error: unknown) => {
        if (error instanceof Error && error.message === SILENCE) this.#giveUp()
      })
    }
    return result
  }

  #withPatience(query: unknown): unknown {
    if (this.longestMs === undefined) return query
    if (typeof query === 'string') return { text: query, query_timeout: this.longestMs }
    return typeof query === 'object' ? Object.assign(query ?? {}, { query_timeout: this.longestMs }) : query
  }

  #giveUp(): void {
    // The driver has no type for this. It is the only way to close a connection without waiting for the other side.
    const { connection } = this as unknown as { connection: { stream: { destroy(): void } } }
    connection.stream.destroy()
  }
}

/** A connection to a pooler: what a session prepared by name is not there in the next one. */
class UnnamedClient extends WatchedClient {
  // oxlint-disable-next-line typescript/no-explicit-any
  override query(...[first, ...rest]: any[]): any {
    return super.query(isNamed(first) ? { ...first, name: undefined } : first, ...rest)
  }
}

const isNamed = (query: unknown): query is object => typeof query === 'object' && query !== null && 'name' in query

// Counts and sums (int8) as numbers: ours stay far below 2^53, and a numeric string invites mistakes.
types.setTypeParser(types.builtins.INT8, Number)

type Schema = Record<string, never>
/** The pool: each statement may use a different connection. `lockSession` is one connection besides it. */
export type Database = NodePgDatabase<Schema> & {
  $client: Pool
  lockSession: SharedSession
  /** Reads a list, an export or a report: from the replica if there is one (`useReplica`). */
  readLong: <T>(read: (db: Executor) => Promise<T>) => Promise<T>
}
export type Transaction = Parameters<Parameters<NodePgDatabase<Schema>['transaction']>[0]>[0]
/** The pool or a transaction. */
export type Executor = NodePgDatabase<Schema> | Transaction

const POOL_MAX = 10

/** A query that takes longer is a bug or an attack. Jobs work in batches instead. */
const STATEMENT_MS = 30_000
/** How much longer a query waits for its answer than the server may work on it. */
const ANSWER_MS = 5_000

/**
 * Neither side waits forever for a connection that vanished silently, for example because a NAT or a load balancer
 * restarted. When the server ends the session, it also releases our locks.
 */
export const SESSION_OPTIONS =
  '-c timezone=UTC -c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3 -c tcp_user_timeout=60000'

/** What the sessions of a pool have. The inventory's functions are short: compiling them costs far more than running them. */
const DIRECT = {
  Client: WatchedClient,
  statement_timeout: STATEMENT_MS,
  idle_in_transaction_session_timeout: 30_000,
  options: `-c jit=off ${SESSION_OPTIONS}`
}
/**
 * A pooler in transaction mode refuses most parameters of a session. It keeps the time zone of each client, and its own
 * settings have the others (deploy/pgbouncer).
 */
const POOLED = { Client: UnnamedClient, onConnect: (client: ClientBase) => client.query(`set timezone = 'UTC'`) }

const clients = new WeakMap<object, WatchedClient>()

export type DatabaseOptions = {
  /** Connections at most. */
  max?: number
  /** How long a query waits for an answer before its connection is closed (ms). */
  answerMs?: number
  /** PostgreSQL itself, if `url` leads to a pooler. */
  sessionUrl?: string
  /** `url` leads to a pooler, which may give each transaction another session. */
  pooled?: boolean
}

/** Opens a pool. Call `closeDatabase` at the end. */
export function openDatabase(
  url: string,
  { max = POOL_MAX, answerMs = STATEMENT_MS + ANSWER_MS, sessionUrl = url, pooled = false }: DatabaseOptions = {}
): Database {
  const patience = {
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    query_timeout: answerMs,
    connectionTimeoutMillis: 10_000
  }
  const pool = new Pool({
    ...patience,
    connectionString: url,
    max,
    application_name: 'netlet',
    // Closes idle connections, whether they still answer or not.
    idleTimeoutMillis: 10_000,
    ...(pooled ? POOLED : DIRECT)
  })
  // The pool replaces an idle connection that the server closes, so this is no error.
  pool.on('error', () => {})
  // It may also end between two queries of a transaction. Without a listener the process would exit.
  pool.on('connect', client => client.on('error', () => {}))
  const lockSession = new SharedSession(
    () =>
      new WatchedClient({
        ...patience,
        connectionString: sessionUrl,
        application_name: 'netlet locks',
        options: SESSION_OPTIONS
      })
  )
  const db: Database = Object.assign(drizzle({ client: pool, casing: 'snake_case' }), {
    lockSession,
    readLong: <T>(read: (from: Executor) => Promise<T>) => read(db)
  })
  // Drizzle's own method never releases its connection if BEGIN fails, so restarts of the server would drain the pool.
  // All transactions share one dialect, because it caches column names.
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

/** Lets the statements of a transaction run for up to `milliseconds`, for the few that scan whole tables. */
export async function allowLongStatements(tx: Transaction, milliseconds: number): Promise<void> {
  await tx.execute(sql`set local statement_timeout = ${sql.raw(String(Math.trunc(milliseconds)))}`)
  const client = clients.get(tx)
  if (client) client.longestMs = milliseconds + ANSWER_MS
}

/**
 * Reads data that the caller can do without if it takes too long.
 * @param milliseconds limit for each statement
 * @returns null if a statement exceeded the limit
 */
export async function readOrTimeOut<T>(
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
  await db.lockSession.close()
  await db.$client.end()
}

/** The SQLSTATE of a PostgreSQL error, also if drizzle wrapped it; undefined for other errors. */
export function sqlState(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    const code = (e as { code?: unknown }).code
    if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code
  }
  return undefined
}

/** The name of the constraint that an error violates, if any. */
export function violatedConstraint(error: unknown): string | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    const name = (e as { constraint?: unknown }).constraint
    if (typeof name === 'string') return name
  }
  return undefined
}

/** The network's error codes: connection refused or reset, no route, no answer, or no address for the host name. */
const NETWORK_FAILURE = /^(ECONN|EPIPE$|ETIMEDOUT$|EHOST|ENET|ENOTFOUND$|EAI_)/

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

/** May the same succeed later? The database was away or out of a resource, or it ended this transaction. */
export function isTemporaryFailure(error: unknown): boolean {
  const state = sqlState(error) ?? ''
  // 57014 is a statement that took too long, and would again. 25006 is a read-only database during a failover.
  return isConnectionLoss(error) || state === '25006' || (/^(08|40|53|55|57)/.test(state) && state !== '57014')
}

type SessionSchema = Record<string, never>
type Prepare = NodePgSession<SessionSchema, SessionSchema>['prepareQuery']

/**
 * Statements that a connection keeps prepared. Commands have about 150. The limit keeps varying texts, such as inserts
 * of many rows, from filling the server's memory.
 */
const MAX_NAMES = 400
const MAX_PARAMS = 64

/** Shared by all connections of the process. */
const names = new Map<string, string>()

/**
 * The session of one transaction. It names its statements, so that PostgreSQL parses and plans each once per
 * connection.
 */
class PreparingSession extends NodePgSession<SessionSchema, SessionSchema> {
  constructor(client: PoolClient, dialect: PgDialect) {
    super(client, dialect, undefined)
  }

  override prepareQuery<T extends PreparedQueryConfig>(...[query, fields, name, ...rest]: Parameters<Prepare>) {
    return super.prepareQuery<T>(query, fields, name ?? nameOf(query), ...rest)
  }
}

/** A statement without parameters is `begin` or similar, or contains its values. */
function nameOf({ sql: text, params }: { sql: string; params: unknown[] }): string | undefined {
  if (params.length === 0 || params.length > MAX_PARAMS) return undefined
  const known = names.get(text)
  if (known !== undefined || names.size === MAX_NAMES) return known
  const name = `netlet_${names.size}`
  names.set(text, name)
  return name
}
