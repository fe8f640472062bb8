import { sql, type SQL } from 'drizzle-orm'
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

/** What users are sorted by for their last login: never null, those who never logged in come first. */
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
    /** What an administrator may do; of no meaning for a customer. */
    operatorRole: text({ enum: OPERATOR_ROLES }).notNull().default('owner'),
    discordId: text(),
    discordName: text(),
    /** Coins: on the wire `reward_points`. */
    coins: points().notNull().default(0),
    /** Coins that a refund took back and the balance did not hold: kept from what is earned next. */
    coinsOwed: points().notNull().default(0),
    /** What payments of invited users earned beyond whole coins. */
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
    /** What its mails are written in. */
    language: text({ enum: LANGUAGES }).notNull().default('en'),
    /** When its owner was last told that somebody guesses its password. */
    guessesToldAt: instant(),
    /** A deleted user with a history keeps this row, without its name, address and password. */
    deletedAt: instant()
  },
  t => [
    uniqueIndex('users_username_key').on(lower(t.username)),
    uniqueIndex('users_email_key').on(lower(t.email)),
    uniqueIndex('users_discord_key').on(t.discordId),
    index('users_search').using('gin', sql`(${t.username} || ' ' || ${t.email}) gin_trgm_ops`),
    // Ascending: a list newest first reads it backwards.
    index('users_listed')
      .on(t.id)
      .where(sql`${t.deletedAt} is null`),
    // Each sorting of the list, and the few that a filter leaves.
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
 * The text that users are searched by. It has to be the expression of the index users_search, letter for letter, or
 * PostgreSQL does not use the index.
 */
export const usernameAndEmail = sql`(${users.username} || ' ' || ${users.email})`

/** A session is an opaque random token in a cookie; only its hash is here. */
export const sessions = pgTable(
  'sessions',
  {
    tokenHash: bytes().primaryKey(),
    /** What its owner names it by, to end it. */
    id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().unique(),
    userId: ref()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The administrator who views the shop as this user, with the session to come back to. */
    impersonatorId: ref().references(() => users.id, { onDelete: 'cascade' }),
    parentHash: bytes(),
    ip: inet(),
    userAgent: text(),
    createdAt: createdAt(),
    lastSeenAt: createdAt(),
    expiresAt: instant().notNull()
  },
  t => [index('sessions_user').on(t.userId), index('sessions_expiry').on(t.expiresAt)]
)

/** Each time that somebody logged in. Kept for a year. */
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
    /** What the browser called itself. */
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

/** Codes sent by mail. Kept for a day, since limits count those of a day. */
export const emailCodes = pgTable(
  'email_codes',
  {
    id: uuid().primaryKey().defaultRandom(),
    email: text().notNull(),
    purpose: text({ enum: CODE_PURPOSES }).notNull(),
    codeHash: bytes().notNull(),
    /** Proof that the forgot code was right, handed out once; changing the password takes it. */
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

/** What failed or was asked for within the last hour, counted by keys: attempts.ts, log-in-limits.ts and whoever calls asks.ts name them. */
export const loginFailures = pgTable(
  'login_failures',
  {
    id: id(),
    key: text().notNull(),
    at: createdAt(),
    /** Until then it is being tried, unless it is known to have failed before; null: it failed. */
    underWayUntil: instant()
  },
  t => [index('login_failures_key').on(t.key, t.at.desc()), index('login_failures_at').on(t.at)]
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
    /** The first characters, so that its owner recognises it. */
    hint: text().notNull(),
    scopes: text().array().notNull(),
    createdAt: createdAt(),
    lastUsedAt: instant(),
    revokedAt: instant(),
    /** The minute that is being counted, and the calls in it. */
    countedSince: instant(),
    calls: integer().notNull().default(0)
  },
  t => [index('api_keys_user').on(t.userId)]
)

/** From which networks an API key was used, so that the audit log tells of each one once, and of credentials once a day. */
export const apiKeyNetworks = pgTable(
  'api_key_networks',
  {
    keyId: ref()
      .notNull()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    /** A client's network, see client-network.ts. */
    network: inet().notNull(),
    firstUsedAt: instant().notNull(),
    lastUsedOn: date({ mode: 'string' }).notNull(),
    credentialsReadOn: date({ mode: 'string' })
  },
  t => [primaryKey({ columns: [t.keyId, t.network] }), index('api_key_networks_used').on(t.lastUsedOn)]
)

/**
 * An OAuth flow with the chat platform, one use: `state` comes back in the address, and the browser that started it
 * holds the other token in a cookie. Once the platform has named the account, the row proves it for the sign-up.
 */
export const oauthStates = pgTable(
  'oauth_states',
  {
    stateHash: bytes().primaryKey(),
    browserHash: bytes().notNull(),
    mode: text().$type<'login' | 'bind'>().notNull(),
    /** Who binds. */
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

/** What a person keeps for the console: column choices, saved views. */
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
