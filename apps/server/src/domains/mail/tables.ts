import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { LANGUAGES, MAIL_FAILURES, MAIL_KINDS, MAIL_STATES, OPTIONAL_MAILS, type OptionalMail } from '@netlet/contract'
import { createdAt, id, instant, oneOf } from '../../infra/db/columns.ts'

/**
 * Every mail that a job has taken up: what it was for and what came of it, not what it said. While its key is here,
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
    /** What the job carried, of a mail that failed: to send it again. */
    unsent: jsonb().$type<unknown>(),
    createdAt: createdAt(),
    sentAt: instant()
  },
  t => [
    index('mails_search').using('gin', sql`${t.to} gin_trgm_ops`),
    index('mails_state').on(t.state, t.id),
    index('mails_created').on(t.createdAt),
    check('mails_kind', oneOf(t.kind, MAIL_KINDS)),
    check('mails_language', oneOf(t.language, LANGUAGES)),
    check('mails_state', oneOf(t.state, MAIL_STATES)),
    check('mails_error_code', oneOf(t.errorCode, MAIL_FAILURES))
  ]
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
