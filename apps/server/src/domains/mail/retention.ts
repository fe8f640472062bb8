import { and, lt, ne } from 'drizzle-orm'
import { DAY } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { mailContents, mails, reportTokens } from './tables.ts'

export const mailRetention: RetentionEntry[] = [
  {
    what: 'mails',
    keep: { setting: 'keep_mails_days' },
    why: 'Which mails went to whom. As long as one is here, its cause is not mailed about again.',
    remove: (unit, before, limit) =>
      removeRows(unit, mails, and(lt(mails.createdAt, before), ne(mails.state, 'waiting')), limit),
    count: db => countRows(db, mails, mails.createdAt)
  },
  {
    what: 'mail_contents',
    keep: { setting: 'keep_mail_contents_days' },
    why: 'What mails said, without codes and personal links: only to look into what somebody was told.',
    remove: (unit, before, limit) => removeRows(unit, mailContents, lt(mailContents.createdAt, before), limit),
    count: db => countRows(db, mailContents, mailContents.createdAt)
  },
  {
    what: 'mail_report_tokens',
    keep: { ms: DAY },
    why: 'Reports of the mail service that were taken: a signature counts once, and is too old after half a day.',
    remove: (unit, before, limit) => removeRows(unit, reportTokens, lt(reportTokens.createdAt, before), limit),
    count: db => countRows(db, reportTokens, reportTokens.createdAt)
  }
]
