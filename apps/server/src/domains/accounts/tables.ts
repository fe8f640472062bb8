import { sql, type SQL } from '../../infra/db/drizzle.ts'
import {
  bigint,
  boolean,
  char,
  check,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
  type AnyPgColumn
} from 'drizzle-orm/pg-core'
import { LANGUAGES, LOGIN_METHODS, OPERATOR_ROLES } from '@netlet/contract'
import { bytes, createdAt, id, inet, instant, lower, oneOf, points, ref } from '../../infra/db/columns.ts'

/** Sort key of the last login. Never null: users without a login come first. */
export const lastSeen = (t: { lastLogin: AnyPgColumn }): SQL => sql`coalesce(${t.lastLogin}, '-infinity'::timestamptz)`

export const users = pgTable(
  'users',
  {
    id: id(),
    username: text().notNull(),
    email: text().notNull(),
    passwordHash: text().notNull(),
    isActive: boolean().notNull().default(true),
    isSuperuser: boolean().notNull().default(false),
    /** An administrator's rights; ignored for customers. */
    operatorRole: text({ enum: OPERATOR_ROLES }).notNull().default('owner'),
    discordId: text(),
    discordName: text(),
    /** Coins: `reward_points` in the API. */
    coins: points().notNull().default(0),
    /** Coins that a refund took and the balance lacked. They are kept from the next earnings. */
    coinsOwed: points().notNull().default(0),
    /** What invited users' payments earned beyond whole coins. */
    coinMillionths: integer().notNull().default(0),
    levelPoints: points().notNull().default(0),
    inviteCode: text().notNull().unique(),
    invitedBy: ref(),
    inviteCount: integer().notNull().default(0),
    createdAt: createdAt(),
    lastLogin: instant(),
    lastLoginIp: inet(),
    /** ISO 3166 country code of `lastLoginIp`. */
    lastLocation: char({ length: 2 }),
    /** Language of its mails. */
    language: text({ enum: LANGUAGES }).notNull().default('en'),
    /** When its owner was last warned of password guesses. */
    guessesToldAt: instant(),
    /** From when on an operator without a second factor may only add one, see second-factor/required.ts. */
    secondFactorDueAt: instant(),
    /** A deleted user with a history keeps this row, without name, address and password. */
    deletedAt: instant()
  },
  t => [
    uniqueIndex('users_username_key').on(lower(t.username)),
    uniqueIndex('users_email_key').on(lower(t.email)),
    uniqueIndex('users_discord_key').on(t.discordId),
    index('users_search').using('gin', sql`(${t.username} || ' ' || ${t.email}) gin_trgm_ops`),
    // Ascending; PostgreSQL reads it backwards for newest first.
    index('users_listed')
      .on(t.id)
      .where(sql`${t.deletedAt} is null`),
    // For each sort of the list, and for filters that leave few rows.
    index('users_by_coins')
      .on(t.coins, t.id)
      .where(sql`${t.deletedAt} is null`),
    index('users_by_level_points')
      .on(t.levelPoints, t.id)
      .where(sql`${t.deletedAt} is null`),
    index('users_by_last_login')
      .on(lastSeen(t), t.id)
      .where(sql`${t.deletedAt} is null`),
    index('users_banned')
      .on(t.id)
      .where(sql`${t.deletedAt} is null and not ${t.isActive}`),
    index('users_admins')
      .on(t.id)
      .where(sql`${t.deletedAt} is null and ${t.isSuperuser}`),
    index('users_invited_by').on(t.invitedBy, t.id, t.deletedAt),
    check('users_language', oneOf(t.language, LANGUAGES)),
    check('users_operator_role', oneOf(t.operatorRole, OPERATOR_ROLES)),
    check('users_coins', sql`${t.coins} >= 0`),
    check('users_coins_owed', sql`${t.coinsOwed} >= 0`),
    check('users_coin_millionths', sql`${t.coinMillionths} between 0 and 999999`),
    check('users_level_points', sql`${t.levelPoints} >= 0`)
  ]
)

/**
 * The text that users are searched by. It must equal the expression of the index users_search, letter for letter, or
 * PostgreSQL does not use the index.
 */
export const usernameAndEmail = sql`(${users.username} || ' ' || ${users.email})`

/** A session is an opaque random token in a cookie. Only its hash is here. */
export const sessions = pgTable(
  'sessions',
  {
    tokenHash: bytes().primaryKey(),
    /** Its owner ends it by this id. */
    id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().unique(),
    userId: ref()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The administrator who views the shop as this user, with the session to return to. */
    impersonatorId: ref().references(() => users.id, { onDelete: 'cascade' }),
    parentHash: bytes(),
    ip: inet(),
    userAgent: text(),
    createdAt: createdAt(),
    lastSeenAt: createdAt(),
    expiresAt: instant().notNull(),
    /** When its operator last logged in or confirmed it, see confirm-session.ts. */
    confirmedAt: instant()
  },
  t => [index('sessions_user').on(t.userId), index('sessions_expiry').on(t.expiresAt)]
)

/** Every login. Kept for a year. */
export const logins = pgTable(
  'logins',
  {
    id: id(),
    userId: ref()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    at: createdAt(),
    method: text({ enum: LOGIN_METHODS }).notNull(),
    ip: inet(),
    /** ISO 3166 country code of `ip`. */
    country: char({ length: 2 }),
    /** The browser's name. */
    device: text()
  },
  t => [
    index('logins_user').on(t.userId, t.id),
    index('logins_at').on(t.at),
    check('logins_method', oneOf(t.method, LOGIN_METHODS))
  ]
)

/** What a mailed code is for. */
export const CODE_PURPOSES = ['register', 'forgot', 'change_email'] as const

/** Mailed codes, kept for a day, because daily limits count them. */
export const emailCodes = pgTable(
  'email_codes',
  {
    id: uuid().primaryKey().defaultRandom(),
    email: text().notNull(),
    purpose: text({ enum: CODE_PURPOSES }).notNull(),
    codeHash: bytes().notNull(),
    /** The hash of the proof of a right reset code, issued once and used up by the new password. */
    verifyId: uuid(),
    attempts: integer().notNull().default(0),
    clientIp: inet(),
    createdAt: createdAt(),
    expiresAt: instant().notNull(),
    usedAt: instant()
  },
  t => [
    index('email_codes_email').on(lower(t.email), t.createdAt.desc()),
    index('email_codes_client').on(t.clientIp, t.createdAt.desc()),
    check('email_codes_purpose', oneOf(t.purpose, CODE_PURPOSES))
  ]
)

export const captchas = pgTable('captchas', {
  id: uuid().primaryKey().defaultRandom(),
  answer: integer().notNull(),
  createdAt: createdAt(),
  expiresAt: instant().notNull()
})

/** Failures and requests of the last hour. attempts.ts, log-in-limits.ts and callers of `countRequest` define the keys. */
export const loginFailures = pgTable(
  'login_failures',
  {
    id: id(),
    key: text().notNull(),
    at: createdAt(),
    /** The attempt may run until then, unless it has failed before; null: it failed. */
    underWayUntil: instant()
  },
  t => [index('login_failures_key').on(t.key.op('text_pattern_ops'), t.at.desc()), index('login_failures_at').on(t.at)]
)

export const apiKeys = pgTable(
  'api_keys',
  {
    id: id(),
    userId: ref()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    keyHash: bytes().notNull().unique(),
    /** The first characters, so that its owner recognizes it. */
    hint: text().notNull(),
    scopes: text().array().notNull(),
    createdAt: createdAt(),
    /** Of an operator's token; null: a customer's key. */
    permissions: text().array(),
    expiresAt: instant(),
    /** When its owner was told that it ends soon. */
    warnedAt: instant(),
    lastUsedAt: instant(),
    /** The client's network at the last use, see infra/http/client-address.ts. */
    lastNetwork: inet(),
    revokedAt: instant(),
    /** The counted minute, and the calls in it. */
    countedSince: instant(),
    calls: integer().notNull().default(0)
  },
  t => [index('api_keys_user').on(t.userId), index('api_keys_expiry').on(t.expiresAt)]
)

/** The networks that use an API key, so that the audit log reports each once, and reads of credentials once a day. */
export const apiKeyNetworks = pgTable(
  'api_key_networks',
  {
    keyId: ref()
      .notNull()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    /** A client's network, see infra/http/client-address.ts. */
    network: inet().notNull(),
    firstUsedAt: instant().notNull(),
    lastUsedOn: date({ mode: 'string' }).notNull(),
    credentialsReadOn: date({ mode: 'string' })
  },
  t => [primaryKey({ columns: [t.keyId, t.network] }), index('api_key_networks_used').on(t.lastUsedOn)]
)

/**
 * An OAuth flow with the chat platform, used once: `state` returns in the address, and the browser holds the other
 * token in a cookie. When the platform has confirmed the account, the row proves it for the sign-up.
 */
export const oauthStates = pgTable(
  'oauth_states',
  {
    stateHash: bytes().primaryKey(),
    browserHash: bytes().notNull(),
    mode: text().$type<'login' | 'bind'>().notNull(),
    /** The user who binds. */
    userId: ref().references(() => users.id, { onDelete: 'cascade' }),
    discordId: text(),
    discordName: text(),
    usedAt: instant(),
    createdAt: createdAt(),
    expiresAt: instant().notNull()
  },
  t => [
    index('oauth_states_browser').on(t.browserHash),
    index('oauth_states_expiry').on(t.expiresAt),
    check('oauth_states_mode', sql`${t.mode} in ('login', 'bind')`)
  ]
)

/** A person's values for the console: column choices, saved views. */
export const userPreferences = pgTable(
  'user_preferences',
  {
    userId: ref()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    key: text().notNull(),
    value: jsonb().$type<unknown>().notNull(),
    updatedAt: instant().notNull()
  },
  t => [primaryKey({ columns: [t.userId, t.key] })]
)
