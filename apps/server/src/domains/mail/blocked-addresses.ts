import { type BlockCause, type BlockSource, type BlockedAddress, refuse } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import { type Actor, SYSTEM } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, inArray, sql } from '../../infra/db/drizzle.ts'
import { type ListInput, among, defineList } from '../../infra/list/index.ts'
import { type Result, done } from '../../infra/result.ts'
import { hashToken } from '../../infra/secrets.ts'
import {
  type MailEvent,
  type ReadEvents,
  readMailgunEvents,
  readSendgridEvents
} from '../../integrations/mail/index.ts'
import { readSettings } from '../settings/index.ts'
import { blockedAddresses, mails, reportTokens } from './tables.ts'

export type Block = { address: string; cause: BlockCause; reason: string; at: Date; source: BlockSource }

/** Rows in one statement. */
const BATCH = 500

/**
 * Blocks addresses: bounced ones get no mail, those of complaints only necessary mail. Events from before an operator
 * lifted the block do not restore it.
 */
export async function blockAddresses({ tx, now }: Unit, blocks: readonly Block[]): Promise<void> {
  const strongest = new Map<string, Block>()
  for (const block of blocks) {
    const address = block.address.toLowerCase()
    const other = strongest.get(address)
    if (!other || isStronger(block, other)) strongest.set(address, { ...block, address })
  }
  // Sorted, so that concurrent reports do not deadlock.
  const rows = [...strongest.values()].toSorted((a, b) => (a.address < b.address ? -1 : 1))
  for (let from = 0; from < rows.length; from += BATCH) {
    const values = rows
      .slice(from, from + BATCH)
      // A time in the future would outlast a lifted block.
      .map(block => ({ ...block, at: block.at > now ? now : block.at, active: true }))
    await tx
      .insert(blockedAddresses)
      .values(values)
      .onConflictDoUpdate({
        target: blockedAddresses.address,
        set: {
          cause: sql`excluded.cause`,
          reason: sql`excluded.reason`,
          source: sql`excluded.source`,
          at: sql`excluded.at`,
          active: true
        },
        setWhere: sql`case when ${blockedAddresses.active} then ${blockedAddresses.cause} = 'complained' and excluded.cause = 'bounced'
          else excluded.at > ${blockedAddresses.liftedAt} end`
      })
  }
}

const isStronger = (one: Block, other: Block): boolean =>
  one.cause === other.cause ? one.at > other.at : one.cause === 'bounced'

/** Why an address is blocked; null if it is not. */
export async function blockOf(db: Executor, address: string): Promise<BlockCause | null> {
  const [row] = await db
    .select({ cause: blockedAddresses.cause })
    .from(blockedAddresses)
    .where(and(eq(blockedAddresses.address, address.toLowerCase()), eq(blockedAddresses.active, true)))
  return row?.cause ?? null
}

/** Which of the addresses are blocked for this cause, in lower case. */
export async function blockedAmong(
  db: Executor,
  cause: BlockCause,
  addresses: readonly string[]
): Promise<Set<string>> {
  if (addresses.length === 0) return new Set()
  const { address } = blockedAddresses
  const isAmong = inArray(
    address,
    addresses.map(one => one.toLowerCase())
  )
  const rows = await db
    .select({ address })
    .from(blockedAddresses)
    .where(and(isAmong, eq(blockedAddresses.active, true), eq(blockedAddresses.cause, cause)))
  return new Set(rows.map(row => row.address))
}

/** Lifts the block of an address; `not_found` if there is none. */
export const liftBlock = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const [row] = await unit.tx
      .update(blockedAddresses)
      .set({ active: false, liftedAt: unit.now })
      .where(and(eq(blockedAddresses.id, id), eq(blockedAddresses.active, true)))
      .returning({ address: blockedAddresses.address, cause: blockedAddresses.cause })
    if (!row) return refuse('not_found')
    unit.audit('mail.lift_block', id, { before: { address: row.address, cause: row.cause } })
    return done
  })

/** Deletes the block of an address whose user was deleted. */
export async function forgetBlock({ tx }: Unit, address: string): Promise<void> {
  await tx.delete(blockedAddresses).where(eq(blockedAddresses.address, address.toLowerCase()))
}

type Query = ListInput<'id'> & { cause?: BlockCause | undefined }

export const blockedList = defineList<Query, BlockedAddress>({
  name: 'mail_blocks',
  table: blockedAddresses,
  id: blockedAddresses.id,
  sort: { id: blockedAddresses.id },
  match: (_db, { search, cause }) => ({
    where: [eq(blockedAddresses.active, true), cause === undefined ? undefined : eq(blockedAddresses.cause, cause)],
    ...(search ? { text: { in: blockedAddresses.address, term: search } } : {})
  }),
  load: async (db, ids) =>
    (await db.select().from(blockedAddresses).where(among(blockedAddresses.id, ids))).map(row => ({
      id: row.id,
      address: row.address,
      cause: row.cause,
      reason: row.reason,
      source: row.source,
      at: iso(row.at)
    }))
})

/**
 * Records a mail service's reports: the log of mails gets each mail's fate, and addresses that bounce or complain are
 * blocked. A repeated report changes nothing.
 */
export async function recordMailEvents(unit: Unit, source: BlockSource, events: readonly MailEvent[]): Promise<void> {
  const known = events.filter(({ key }) => key !== null)
  if (known.length > 0) await recordOnMails(unit, known)
  const blocks = events.flatMap(({ happened, address, at, reason }): Block[] =>
    happened === 'refused' ? [] : [{ address, cause: happened, at, reason, source }]
  )
  await blockAddresses(unit, blocks)
}

/** A mail bounced although the service had accepted it, or its recipient reported it as spam. */
async function recordOnMails({ tx }: Unit, events: readonly MailEvent[]): Promise<void> {
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
    if (token === null || (await isNew(unit, token))) await recordMailEvents(unit, service, events)
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
