import { sql, type SQL } from 'drizzle-orm'
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

/** The `at`-th word of a mail's key, whose words are parted by ':'. The first one says what kind of cause it was. */
export const keyPart = (key: AnyPgColumn, at: 1 | 2 | 3): SQL => sql`split_part(${key}, ':', ${sql.raw(String(at))})`

/** A mail whose key names an order third, after an outage: letter for letter the condition of its index. */
export const isAboutOutage = (key: AnyPgColumn): SQL => sql`${keyPart(key, 1)} in ('outage', 'credited')`

/**
 * Every mail that a job has taken up: what it was for and what came of it. While its key is here,
 * its cause is not mailed about again. What fills the template stays in the job, until that has ended.
 */
export const mails = pgTable(
  'mails',
  {
    id: id(),
    /** Names the cause, such as 'reminder:42:first:2026-11-21T10:00:00.000Z'. */
    key: text().notNull().unique('mails_key'),
    to: text().notNull(),
    template: text().notNull(),
    kind: text({ enum: MAIL_KINDS }).notNull(),
    language: text({ enum: LANGUAGES }).notNull(),
    state: text({ enum: MAIL_STATES }).notNull().default('waiting'),
    error: text(),
    errorCode: text({ enum: MAIL_FAILURES }),
    /** The mail service's name for it. */
    providerId: text(),
    /** The job that sends it, and when that last began to. */
    jobId: text().notNull(),
    claimedAt: instant().notNull(),
    tries: integer().notNull().default(1),
    /** Tries after which nobody knows whether the service took it. */
    uncertainTries: integer().notNull().default(0),
    /** What the job carried, to send it again: of a mail that failed, and of one without secrets as long as what it said is kept. */
    carried: jsonb('unsent').$type<unknown>(),
    createdAt: createdAt(),
    sentAt: instant()
  },
  t => [
    index('mails_search').using('gin', sql`${t.to} gin_trgm_ops`),
    index('mails_to').on(sql`lower(${t.to})`, t.id),
    index('mails_state').on(t.state, t.id),
    index('mails_created').on(t.createdAt),
    // By what their keys name: an order, or a payment of it.
    index('mails_about').on(keyPart(t.key, 2), keyPart(t.key, 1)),
    index('mails_about_outage').on(keyPart(t.key, 3)).where(isAboutOutage(t.key)),
    check('mails_kind', oneOf(t.kind, MAIL_KINDS)),
    check('mails_language', oneOf(t.language, LANGUAGES)),
    check('mails_state', oneOf(t.state, MAIL_STATES)),
    check('mails_error_code', oneOf(t.errorCode, MAIL_FAILURES))
  ]
)

/** What a mail said that was handed to the mail service: rendered without its secrets, and kept for a shorter time. */
export const mailContents = pgTable(
  'mail_contents',
  {
    mailId: ref()
      .primaryKey()
      .references(() => mails.id, { onDelete: 'cascade' }),
    subject: text().notNull(),
    text: text().notNull(),
    html: text().notNull(),
    /** Whom it addressed: mails to a former address are found by it when their user is deleted. */
    username: text(),
    createdAt: createdAt()
  },
  t => [index('mail_contents_created').on(t.createdAt), index('mail_contents_username').on(lower(t.username))]
)

/** Addresses that are not written to. A block that an operator lifted stays, and knows when: what was reported before is over. */
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
    /** When the mail came back, or was complained about. */
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

/** Reports of a mail service whose signature counts once, by the hash of what it signed. */
export const reportTokens = pgTable(
  'mail_report_tokens',
  { token: bytes().primaryKey(), createdAt: createdAt() },
  t => [index('mail_report_tokens_created').on(t.createdAt)]
)

/** Kinds of mail that an address does not want. Who has no row wants all. */
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
