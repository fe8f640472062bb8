import { type BlockSource, refuse } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import {
  type MailEvent,
  type ReadEvents,
  readMailgunEvents,
  readSendgridEvents
} from '../../integrations/mail/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { done, type Result } from '../../infra/result.ts'
import { hashToken } from '../../infra/secrets.ts'
import { readSettings } from '../settings/index.ts'
import { mails, reportTokens } from './tables.ts'
import { sql } from '../../infra/db/drizzle.ts'
import { type Block, blockAddresses } from './blocked-addresses.ts'

/**
 * Records a mail service's reports: the log of mails gets each mail's fate, and addresses that bounce or complain are
 * blocked. A repeated report changes nothing.
 */
export async function takeEvents(unit: Unit, source: BlockSource, events: readonly MailEvent[]): Promise<void> {
  const known = events.filter(({ key }) => key !== null)
  if (known.length > 0) await noteOnMails(unit, known)
  const blocks = events.flatMap(({ happened, address, at, reason }): Block[] =>
    happened === 'refused' ? [] : [{ address, cause: happened, at, reason, source }]
  )
  await blockAddresses(unit, blocks)
}

/** A mail bounced although the service had accepted it, or its recipient reported it as spam. */
async function noteOnMails({ tx }: Unit, events: readonly MailEvent[]): Promise<void> {
  const rows = new Map(events.map(event => [event.key, event]))
  const parts = [...rows.values()].map(
    ({ key, happened, reason, address }) => sql`(${key}::text, ${happened}::text, ${reason}::text, ${address}::text)`
  )
  await tx.execute(sql`
    update ${mails} set
      state = case when event.happened = 'complained' then ${mails.state} else 'bounced' end,
      error = event.reason,
      error_code = case when event.happened = 'refused' then 'rejected' else event.happened end
    from (values ${sql.join(parts, sql`, `)}) as event (key, happened, reason, address)
    where ${mails.key} = event.key and lower(${mails.to}) = lower(event.address)
      and ${mails.state} in ('sent', 'waiting')`)
}

/** Accepts a signed report of a mail service. A forged one could block customers' mails. */
export async function receiveEvents(
  ctx: AppContext,
  request: FastifyRequest,
  service: 'sendgrid' | 'mailgun'
): Promise<Result<null>> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  const read: ReadEvents =
    service === 'mailgun'
      ? readMailgunEvents(request.body, settings.mailgun_webhook_key, ctx.now())
      : readSendgridEvents(
          request.rawBody ?? Buffer.alloc(0),
          request.headers,
          settings.sendgrid_webhook_key,
          ctx.now()
        )
  if (!read.ok) return refuse(read.reason)
  const { events, token } = read
  if (events.length === 0 && token === null) return done
  await command(ctx, SYSTEM, async unit => {
    if (token === null || (await isNew(unit, token))) await takeEvents(unit, service, events)
  })
  return done
}

/**
 * Mailgun's signature covers a token but not the report, so each token counts for one report only. A repeated report
 * finds its token and changes nothing.
 */
async function isNew({ tx, now }: Unit, token: string): Promise<boolean> {
  const [kept] = await tx
    .insert(reportTokens)
    .values({ token: hashToken(token), createdAt: now })
    .onConflictDoNothing()
    .returning({ createdAt: reportTokens.createdAt })
  return kept !== undefined
}
