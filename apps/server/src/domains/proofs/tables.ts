import { sql } from '../../infra/db/drizzle.ts'
import { bigint, check, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { PROOF_CAUSES, PROOF_KINDS, PROOF_STATES, type ProofTry } from '@netlet/contract'
import { createdAt, id, instant, oneOf, ref } from '../../infra/db/columns.ts'
import { servers } from '../servers/tables.ts'

/**
 * The results of trying an order's credentials at addresses of one server: after the credentials ended, or before they
 * are handed over. Results for leases that ended are kept as long as the leases.
 */
export const accessProofs = pgTable(
  'access_proofs',
  {
    id: id(),
    kind: text({ enum: PROOF_KINDS }).notNull(),
    cause: text({ enum: PROOF_CAUSES }).notNull(),
    state: text({ enum: PROOF_STATES }).notNull().default('waiting'),
    orderId: ref().notNull(),
    serverId: ref()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    username: text().notNull(),
    /** The old password of a revocation, until the row is settled. A hand-over is tried with the current one. */
    password: text(),
    /** The addresses that it covers. */
    prefixes: text().array().notNull(),
    /** Its agent must confirm this generation first. Null: it has. */
    generation: bigint({ mode: 'number' }),
    /** The last tries, newest first. `attempts` counts all rounds. */
    tries: jsonb().$type<ProofTry[]>().notNull().default([]),
    attempts: integer().notNull().default(0),
    /** When the next try is due. Null: it waits for its agent, or is settled. */
    nextAt: instant(),
    askedAt: createdAt(),
    settledAt: instant(),
    acknowledgedAt: instant(),
    acknowledgedBy: text()
  },
  t => [
    index('access_proofs_order').on(t.orderId, t.id),
    index('access_proofs_server').on(t.serverId, t.id),
    index('access_proofs_asked').on(t.askedAt),
    index('access_proofs_due')
      .on(t.serverId, t.nextAt)
      .where(sql`${t.nextAt} is not null`),
    index('access_proofs_unconfirmed')
      .on(t.serverId, t.username)
      .where(sql`${t.generation} is not null`),
    index('access_proofs_open')
      .on(t.id)
      .where(sql`${t.state} = 'failed'`),
    check('access_proofs_kind', oneOf(t.kind, PROOF_KINDS)),
    check('access_proofs_cause', oneOf(t.cause, PROOF_CAUSES)),
    check('access_proofs_state', oneOf(t.state, PROOF_STATES)),
    check('access_proofs_password', sql`${t.password} is null or ${t.state} in ('waiting', 'failed')`)
  ]
)
