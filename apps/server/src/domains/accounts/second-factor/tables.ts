import { LOGIN_METHODS, SECOND_FACTORS } from '@netlet/contract'
import { sql } from '../../../infra/db/drizzle.ts'
import { bigint, boolean, check, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant, oneOf, ref } from '../../../infra/db/columns.ts'
import { users } from '../tables.ts'

/** The authenticator app and the passkeys of an account. */
export const secondFactors = pgTable(
  'second_factors',
  {
    id: id(),
    userId: ref()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    kind: text({ enum: SECOND_FACTORS }).notNull(),
    name: text().notNull(),
    /** Of the authenticator app: its sealed secret, and the time step of the last code, which counts once. */
    secret: bytes(),
    lastStep: bigint({ mode: 'number' }),
    /** Of a passkey. */
    credentialId: text(),
    publicKey: bytes(),
    /** How often it was used, by its own count; 0: it does not count. */
    counter: bigint({ mode: 'number' }).notNull().default(0),
    transports: text().array(),
    /** May it log in without the password? Not after a reset, until both have logged in together. */
    alone: boolean().notNull().default(true),
    createdAt: createdAt(),
    lastUsedAt: instant()
  },
  t => [
    index('second_factors_user').on(t.userId, t.id),
    uniqueIndex('second_factors_app')
      .on(t.userId)
      .where(sql`${t.kind} = 'totp'`),
    uniqueIndex('second_factors_credential').on(t.credentialId),
    check('second_factors_kind', oneOf(t.kind, SECOND_FACTORS)),
    check('second_factors_totp', sql`(${t.kind} = 'totp') = (${t.secret} is not null)`),
    check(
      'second_factors_passkey',
      sql`(${t.kind} = 'passkey') = (${t.credentialId} is not null and ${t.publicKey} is not null)`
    )
  ]
)

/** The recovery codes of an account, as HMACs. */
export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    userId: ref()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    codeHash: bytes().notNull(),
    usedAt: instant()
  },
  t => [primaryKey({ columns: [t.userId, t.codeHash] })]
)

/**
 * 'log_in': a login whose second factor is to come. 'passkey': one by a passkey alone. 'enrol': a factor that a
 * session began to add. 'confirm': a session's challenge instead of the password.
 */
const TICKET_PURPOSES = ['log_in', 'passkey', 'enrol', 'confirm'] as const

/** What waits for a second factor, for minutes. */
export const secondFactorTickets = pgTable(
  'second_factor_tickets',
  {
    /** Of the browser's token, or of the purpose and the session. */
    tokenHash: bytes().primaryKey(),
    purpose: text({ enum: TICKET_PURPOSES }).notNull(),
    userId: ref().references(() => users.id, { onDelete: 'cascade' }),
    /** The first step of the log-in. */
    method: text({ enum: LOGIN_METHODS }),
    /** What is added, and its sealed secret. */
    kind: text({ enum: SECOND_FACTORS }),
    secret: bytes(),
    /** A passkey's challenge, used once, and the origin of the page that asked. */
    challenge: text(),
    origin: text(),
    tries: integer().notNull().default(0),
    createdAt: createdAt(),
    expiresAt: instant().notNull()
  },
  t => [
    index('second_factor_tickets_user').on(t.userId),
    index('second_factor_tickets_expiry').on(t.expiresAt),
    check('second_factor_tickets_purpose', oneOf(t.purpose, TICKET_PURPOSES)),
    check('second_factor_tickets_method', oneOf(t.method, LOGIN_METHODS)),
    check('second_factor_tickets_kind', oneOf(t.kind, SECOND_FACTORS)),
    check('second_factor_tickets_owner', sql`(${t.purpose} = 'passkey') = (${t.userId} is null)`)
  ]
)
