import { refuse, type MailDetail } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { ok, type Result } from '../../infra/result.ts'
import { presentMail } from './list-mails.ts'
import { mailContents, mails } from './tables.ts'

/** One mail with its content. Reading other people's mail is audited; the entry does not repeat the content. */
export const readMail = (ctx: AppContext, by: Actor, id: number): Promise<Result<MailDetail>> =>
  command(ctx, by, async unit => {
    const [found] = await unit.tx
      .select({ mail: mails, content: mailContents })
      .from(mails)
      .leftJoin(mailContents, eq(mailContents.mailId, mails.id))
      .where(eq(mails.id, id))
    if (!found) return refuse('not_found')
    const { mail, content } = found
    if (content) unit.audit('mail.read', id, { after: { template: mail.template } })
    return ok({
      ...presentMail(mail),
      content: content && { subject: content.subject, text: content.text, html: content.html }
    })
  })
