import type { PgDialect, PreparedQueryConfig } from 'drizzle-orm/pg-core'
import { NodePgSession } from 'drizzle-orm/node-postgres'
import type { PoolClient } from 'pg'

type Schema = Record<string, never>
type Prepare = NodePgSession<Schema, Schema>['prepareQuery']

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
export class PreparingSession extends NodePgSession<Schema, Schema> {
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
