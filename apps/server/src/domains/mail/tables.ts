import { sql, type SQL } from '../../infra/db/drizzle.ts'
import { boolean, check, index, integer, jsonb, pgTable, text, type AnyPgColumn } from 'drizzle-orm/pg-core'
import {
  BLOCK_CAUSES,
  BLOCK_SOURCES,
  LANGUAGES,
  MAIL_FAILURES,
  MAIL_KINDS,
  MAIL_STATES,
  OPTIONAL_MAILS,
  type OptionalMail
} from '@netlet/contract'
import { bytes, createdAt, id, instant, lower, oneOf, ref } from '../../infra/db/columns.ts'

/** The `at`-th part of a mail's key, separated by ':'. The first part is the kind of cause. */
export const keyPart = (key: AnyPgColumn, at: 1 | 2 | 3): SQL => sql`split_part(${key}, ':', ${sql.raw(String(at))})`

/** A mail about an outage has its order third in the key. Letter for letter the condition of its index. */
export const isAboutOutage = (key: AnyPgColumn): SQL => sql`${keyPart(key, 1)} in ('outage', 'credited')`

/**
 * Every mail that a job has tried: its purpose and outcome. A key in this table is not mailed again. The template's
 * data stays in the job until that ends.
 */
export const mails = pgTable(
  'mails',
  {
    id: id(),
    /** The unique cause, such as 'reminder:42:first:2026-11-21T10:00:00.000Z'. */
    key: text().notNull().unique('mails_key'),
    to: text().notNull(),
    template: text().notNull(),
    kind: text({ enum: MAIL_KINDS }).notNull(),
    language: text({ enum: LANGUAGES }).notNull(),
    state: text({ enum: MAIL_STATES }).notNull().default('waiting'),
    error: text(),
    errorCode: text({ enum: MAIL_FAILURES }),
    /** The mail service's id for it. */
    providerId: text(),
    /** The job that sends it, and when its last try began. */
    jobId: text().notNull(),
    claimedAt: instant().notNull(),
    tries: integer().notNull().default(1),
    /** Tries with an unknown result. */
    uncertainTries: integer().notNull().default(0),
    /** The job's data to send it again: of failed mails, and of those without secrets while their content is kept. */
    carried: jsonb('unsent').$type<unknown>(),
    createdAt: createdAt(),
    sentAt: instant()
  },
  t => [
    index('mails_search').using('gin', sql`${t.to} gin_trgm_ops`),
    index('mails_to').on(sql`lower(${t.to})`, t.id),
    index('mails_state').on(t.state, t.id),
    index('mails_created').on(t.createdAt),
    // By the order or payment in their keys.
    index('mails_about').on(keyPart(t.key, 2), keyPart(t.key, 1)),
    index('mails_about_outage').on(keyPart(t.key, 3)).where(isAboutOutage(t.key)),
    check('mails_kind', oneOf(t.kind, MAIL_KINDS)),
    check('mails_language', oneOf(t.language, LANGUAGES)),
    check('mails_state', oneOf(t.state, MAIL_STATES)),
    check('mails_error_code', oneOf(t.errorCode, MAIL_FAILURES))
  ]
)

/** The content of sent mails, without secrets and kept for a shorter time. */
export const mailContents = pgTable(
  'mail_contents',
  {
    mailId: ref()
      .primaryKey()
      .references(() => mails.id, { onDelete: 'cascade' }),
    subject: text().notNull(),
    text: text().notNull(),
    html: text().notNull(),
    /** The name that it addressed. The deletion of a user finds mails to former addresses by it. */
    username: text(),
    createdAt: createdAt()
  },
  t => [index('mail_contents_created').on(t.createdAt), index('mail_contents_username').on(lower(t.username))]
)

/** Blocked addresses. A lifted block stays with its time, so that earlier reports do not restore it. */
export const blockedAddresses = pgTable(
  'mail_blocks',
  {
    id: id(),
    /** In lower case. */
    address: text().notNull().unique('mail_blocks_address'),
    cause: text({ enum: BLOCK_CAUSES }).notNull(),
    /** In the words of the mail service. */
    reason: text().notNull(),
    source: text({ enum: BLOCK_SOURCES }).notNull(),
    /** When the mail bounced or the complaint was made. */
    at: instant().notNull(),
    active: boolean().notNull(),
    liftedAt: instant()
  },
  t => [
    index('mail_blocks_search').using('gin', sql`${t.address} gin_trgm_ops`),
    index('mail_blocks_active')
      .on(t.id)
      .where(sql`${t.active}`),
    check('mail_blocks_cause', oneOf(t.cause, BLOCK_CAUSES)),
    check('mail_blocks_source', oneOf(t.source, BLOCK_SOURCES)),
    check('mail_blocks_lifted', sql`${t.active} or ${t.liftedAt} is not null`)
  ]
)

/** Tokens of signed reports, hashed: each one counts once. */
export const reportTokens = pgTable(
  'mail_report_tokens',
  { token: bytes().primaryKey(), createdAt: createdAt() },
  t => [index('mail_report_tokens_created').on(t.createdAt)]
)

/** Mails that wait to become one: of one cause, such as a bulk run, to one address. */
export const mailParts = pgTable(
  'mail_parts',
  {
    id: id(),
    /** Such as 'run:12'. */
    cause: text().notNull(),
    to: text().notNull(),
    /** The request of the mail that this part would be alone. */
    request: jsonb().$type<unknown>().notNull(),
    createdAt: createdAt()
  },
  t => [index('mail_parts_to').on(lower(t.to), t.cause)]
)

/** Kinds of mail that an address does not want. Without a row it wants all. */
export const mailChoices = pgTable(
  'mail_choices',
  {
    /** In lower case. */
    address: text().primaryKey(),
    off: text().array().$type<OptionalMail[]>().notNull()
  },
  t => [
    check(
      'mail_choices_off',
      sql`${t.off} <@ array[${sql.raw(OPTIONAL_MAILS.map(kind => `'${kind}'`).join(', '))}]::text[]`
    )
  ]
)
