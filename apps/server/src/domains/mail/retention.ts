import { and, lt, ne } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { among } from '../../infra/list/index.ts'
import { countRows, removeRows, removeRowsGiving, type RetentionEntry } from '../../infra/retention.ts'
import { mailContents, mails, reportTokens } from './tables.ts'

/** Also deletes the data that the mails were made of, except for failed ones, which may be sent again. */
async function removeContents(unit: Unit, before: Date, limit: number): Promise<number> {
  const ids = await removeRowsGiving(unit, mailContents.mailId, lt(mailContents.createdAt, before), limit)
  if (ids.length > 0)
    await unit.tx
      .update(mails)
      .set({ carried: null })
      .where(and(among(mails.id, ids), ne(mails.state, 'failed')))
  return ids.length
}

export const mailRetention: RetentionEntry[] = [
  {
    what: 'mails',
    keep: { setting: 'keep_mails_days' },
    why: 'Who got which email. While an email is kept, the shop does not send another about the same event.',
    remove: (unit, before, limit) =>
      removeRows(unit, mails, and(lt(mails.createdAt, before), ne(mails.state, 'waiting')), limit),
    count: db => countRows(db, mails, mails.createdAt)
  },
  {
    what: 'mail_contents',
    keep: { setting: 'keep_mail_contents_days' },
    why: 'What mails said, without codes and personal links: to look into what somebody was told, and to send it again.',
    remove: removeContents,
    count: db => countRows(db, mailContents, mailContents.createdAt)
  },
  {
    what: 'mail_report_tokens',
    keep: { ms: DAY },
    why: 'Accepted reports of the email service. Each signature counts once and expires after 12 hours.',
    remove: (unit, before, limit) => removeRows(unit, reportTokens, lt(reportTokens.createdAt, before), limit),
    count: db => countRows(db, reportTokens, reportTokens.createdAt)
  }
]
