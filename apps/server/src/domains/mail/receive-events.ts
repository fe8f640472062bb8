import { refuse } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import { readMailgunEvents, readSendgridEvents, type ReadEvents } from '../../integrations/mail/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { done, type Result } from '../../infra/result.ts'
import { hashToken } from '../../infra/secrets.ts'
import { readSettings } from '../settings/index.ts'
import { reportTokens } from './tables.ts'
import { takeEvents } from './take-events.ts'

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
