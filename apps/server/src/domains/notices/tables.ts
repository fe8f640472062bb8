import { sql } from '../../infra/db/drizzle.ts'
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  uniqueIndex,
  type AnyPgColumn
} from 'drizzle-orm/pg-core'
import {
  LANGUAGES,
  NOTICE_CAUSE_NAMES,
  NOTICE_CHANNELS,
  NOTICE_FAILURES,
  NOTICE_SEND_STATES,
  NOTICE_SEVERITIES,
  NOTICE_TELLINGS,
  type NoticeSeverity,
  type NoticeWords,
  type Params
} from '@netlet/contract'
import { bytes, createdAt, id, instant, oneOf, ref } from '../../infra/db/columns.ts'

/** The rules of notices, in one row; the defaults are in the contract. */
export const noticeRules = pgTable(
  'notice_rules',
  {
    id: integer().primaryKey().default(1),
    rules: jsonb().$type<unknown>().notNull(),
    updatedAt: createdAt()
  },
  t => [check('notice_rules_one', sql`${t.id} = 1`)]
)

/** Where operators get notices. */
export const noticeChannels = pgTable(
  'notice_channels',
  {
    id: id(),
    name: text().notNull(),
    /** Of posts; a mail is in its recipient's language. */
    language: text({ enum: LANGUAGES }).notNull().default('en'),
    kind: text({ enum: NOTICE_CHANNELS }).notNull(),
    /** Where to post, sealed, because a chat's webhook address contains its secret. Null for mail. */
    target: bytes(),
    /** Its host, for display. */
    host: text(),
    /** The key that signs the posts of a `webhook`, sealed. */
    secret: bytes(),
    /** Operators who get the mails; none: all who act on notices. */
    userIds: bigint({ mode: 'number' })
      .array()
      .notNull()
      .default(sql`'{}'`),
    severities: text().array().$type<NoticeSeverity[]>().notNull(),
    digest: boolean().notNull(),
    enabled: boolean().notNull().default(true),
    /** The day of the last digest in the shop's time zone, and until when it reports. */
    digestDay: text(),
    digestUntil: instant().notNull(),
    lastSentAt: instant(),
    failingSince: instant(),
    failure: text({ enum: NOTICE_FAILURES }),
    createdAt: createdAt()
  },
  t => [
    check('notice_channels_language', oneOf(t.language, LANGUAGES)),
    check('notice_channels_kind', oneOf(t.kind, NOTICE_CHANNELS)),
    check('notice_channels_failure', oneOf(t.failure, NOTICE_FAILURES)),
    check('notice_channels_target', sql`(${t.kind} = 'mail') = (${t.target} is null)`)
  ]
)

/** Notices to operators: one row for each cause and subject while it is open. */
export const notices = pgTable(
  'notices',
  {
    id: id(),
    cause: text({ enum: NOTICE_CAUSE_NAMES }).notNull(),
    /** The subject within its cause; '' if the cause has one notice for all its rows. */
    subject: text().notNull(),
    /** The unique occurrence if a command raised it. While its row exists, a repeat is ignored. */
    key: text().unique('notices_key'),
    severity: text({ enum: NOTICE_SEVERITIES }).notNull(),
    words: text().$type<NoticeWords>().notNull(),
    params: jsonb().$type<Params>().notNull(),
    count: integer().notNull().default(1),
    /**
     * Count and severity when last sent. When either gets worse it is sent again. Null: waits for the end of a mute.
     */
    toldCount: integer().notNull().default(0),
    toldSeverity: text({ enum: NOTICE_SEVERITIES }),
    /** How often it was sent: a part of each message's key. */
    told: integer().notNull().default(0),
    /** When it was last planned for the channels; each message has its own time. */
    toldAt: instant(),
    since: instant().notNull(),
    /** When it was last found. A search that began earlier does not end it. */
    seenAt: instant().notNull(),
    /** When it last changed in a way that the digest reports. */
    changedAt: instant().notNull(),
    closedAt: instant(),
    acknowledgedAt: instant(),
    acknowledgedBy: text(),
    mutedUntil: instant(),
    createdAt: createdAt()
  },
  t => [
    uniqueIndex('notices_open')
      .on(t.cause, t.subject)
      .where(sql`${t.closedAt} is null`),
    index('notices_cause').on(t.cause, t.id),
    index('notices_severity').on(t.severity, t.id),
    // By its subject and the parameters of its sentence.
    index('notices_search').using('gin', sql`(${t.subject} || ' ' || ${t.params}::text) gin_trgm_ops`),
    index('notices_changed').on(t.changedAt),
    index('notices_closed').on(t.closedAt),
    check('notices_cause', oneOf(t.cause, NOTICE_CAUSE_NAMES)),
    check('notices_severity', oneOf(t.severity, NOTICE_SEVERITIES))
  ]
)

/** One message to one channel. Its key makes it unique across jobs and processes. */
export const noticeSends = pgTable(
  'notice_sends',
  {
    id: id(),
    /** Null: a digest, a test, or a message of several notices. */
    noticeId: ref().references(() => notices.id, { onDelete: 'cascade' }),
    channelId: ref()
      .notNull()
      .references(() => noticeChannels.id, { onDelete: 'cascade' }),
    /** The message that contains this notice with others. It is sent instead, and its result is copied here. */
    withId: ref().references((): AnyPgColumn => noticeSends.id, { onDelete: 'cascade' }),
    key: text().notNull().unique('notice_sends_key'),
    telling: text({ enum: NOTICE_TELLINGS }).notNull(),
    /** For a digest: its notices, and how many more there are. */
    noticeIds: bigint({ mode: 'number' }).array(),
    more: integer().notNull().default(0),
    state: text({ enum: NOTICE_SEND_STATES }).notNull().default('waiting'),
    dueAt: instant().notNull(),
    tries: integer().notNull().default(0),
    /** The job that sends it, and when its last try began. */
    jobId: text(),
    claimedAt: instant(),
    status: integer(),
    failure: text({ enum: NOTICE_FAILURES }),
    detail: text(),
    /** For mail: the keys of its mails. */
    mailKeys: text().array(),
    createdAt: createdAt(),
    endedAt: instant()
  },
  t => [
    index('notice_sends_notice').on(t.noticeId, t.id),
    index('notice_sends_channel').on(t.channelId),
    index('notice_sends_with')
      .on(t.withId)
      .where(sql`${t.withId} is not null`),
    index('notice_sends_created').on(t.createdAt),
    index('notice_sends_waiting')
      .on(t.dueAt)
      .where(sql`${t.state} = 'waiting'`),
    index('notice_sends_failed')
      .on(t.noticeId)
      .where(sql`${t.state} = 'failed'`),
    check('notice_sends_telling', oneOf(t.telling, NOTICE_TELLINGS)),
    check('notice_sends_state', oneOf(t.state, NOTICE_SEND_STATES)),
    check('notice_sends_failure', oneOf(t.failure, NOTICE_FAILURES))
  ]
)

export type NoticeRow = typeof notices.$inferSelect
export type ChannelRow = typeof noticeChannels.$inferSelect

/** The last refused credentials of other services, one row for each service, see found.ts. */
export const refusedTokens = pgTable('refused_tokens', {
  /** The subject of the cause `token`. */
  service: text().primaryKey(),
  /** SHA-256 of the refused credentials. It says nothing about other ones. */
  token: bytes().notNull(),
  message: text().notNull(),
  since: instant().notNull()
})
