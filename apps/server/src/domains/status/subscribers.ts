import { type Language, inLanguage, refuse } from '@netlet/contract'
import { type Actor, SYSTEM, type UserActor, type VisitorActor } from '../../infra/actor.ts'
import { DAY, HOUR, MINUTE, iso, isoOrNull } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, asc, eq, gt, inArray, isNotNull, isNull, sql } from '../../infra/db/drizzle.ts'
import { type Result, done } from '../../infra/result.ts'
import type { Secrets } from '../../infra/secrets.ts'
import { countClientRequest, countForwarded } from '../accounts/index.ts'
import { blockedAmong, enqueueMail, forgetWaitingMails } from '../mail/index.ts'
import { readLocations } from './locations.ts'
import { placesOf } from './present.ts'
import { statusMailsQueue } from './queues.ts'
import { incidentLocations, incidentUpdates, incidents, statusSubscribers } from './tables.ts'

const PURPOSES = { confirm: 'status-confirm', unsubscribe: 'status-unsubscribe' } as const
type TokenPurpose = keyof typeof PURPOSES

/** The content of a mail's link: its subscriber. Sealed, so it cannot be forged and reveals no address. */
const statusToken = (secrets: Secrets, purpose: TokenPurpose, id: number): string =>
  secrets.kept.seal(JSON.stringify([PURPOSES[purpose], id])).toString('base64url')

/** The subscriber of a token; null if it is not valid for this purpose. */
function readToken(secrets: Secrets, purpose: TokenPurpose, token: string): number | null {
  try {
    const [found, id] = JSON.parse(secrets.kept.open(Buffer.from(token, 'base64url'))) as unknown[]
    return found === PURPOSES[purpose] && typeof id === 'number' ? id : null
  } catch {
    return null
  }
}

/** Addresses that one client may enter in an hour. */
export const ASKS_AN_HOUR = 5
/** Links mailed to one address until it is confirmed or forgotten, and the pause between two. */
const ASKS_OF_ADDRESS = 3
const PAUSE = 10 * MINUTE
/** How long a link is valid. */
export const UNCONFIRMED_FOR = 2 * DAY

/**
 * Mails an address its confirmation link. The reply is the same for new, waiting and confirmed addresses, so that it
 * reveals no subscription; 'too_many' depends on the client only. An address gets three links at most, so
 * strangers cannot flood it.
 */
export const subscribe = (
  ctx: AppContext,
  by: UserActor | VisitorActor,
  { email, language }: { email: string; language: Language }
): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const { tx, now } = unit
    // Counted even if no mail is sent, or the limit would reveal which addresses are subscribed.
    if (!(await countClientRequest(unit, 'status', by, { most: ASKS_AN_HOUR, withinMs: HOUR })))
      return refuse('too_many')
    const flooded = await countForwarded(unit, by, 'status')
    if (flooded) return flooded
    const [row] = await tx
      .insert(statusSubscribers)
      .values({ address: email.toLowerCase(), language, askedAt: now })
      .onConflictDoUpdate({
        target: statusSubscribers.address,
        set: { language, askedAt: now, asks: sql`${statusSubscribers.asks} + 1` },
        setWhere: sql`${statusSubscribers.confirmedAt} is null and ${statusSubscribers.asks} < ${ASKS_OF_ADDRESS}
          and ${statusSubscribers.askedAt} <= ${new Date(now.getTime() - PAUSE).toISOString()}::timestamptz`
      })
      .returning({ id: statusSubscribers.id, address: statusSubscribers.address, asks: statusSubscribers.asks })
    if (!row) return done
    enqueueMail(unit, {
      to: row.address,
      language,
      template: 'status-confirm',
      data: { sealed_token: sealedToken(ctx, 'confirm', row.id) },
      key: `status-confirm:${row.id}:${row.asks}`
    })
    return done
  })

/** Confirms an address. Nothing about the requester is stored. A repeat changes nothing. */
export async function confirmSubscriber(ctx: AppContext, by: Actor, token: string): Promise<Result<null>> {
  const id = readToken(ctx.secrets, 'confirm', token)
  if (id === null) return refuse('wrong_status_token')
  return command(ctx, by, async ({ tx, now }) => {
    const oldest = new Date(now.getTime() - UNCONFIRMED_FOR)
    const confirmed = await tx
      .update(statusSubscribers)
      .set({
        confirmedAt: sql`coalesce(${statusSubscribers.confirmedAt}, ${now.toISOString()}::timestamptz)`
      })
      .where(
        and(
          eq(statusSubscribers.id, id),
          sql`(${isNotNull(statusSubscribers.confirmedAt)} or ${gt(statusSubscribers.askedAt, oldest)})`
        )
      )
      .returning({ id: statusSubscribers.id })
    return confirmed.length > 0 ? done : refuse('wrong_status_token')
  })
}

/** Removes a link's address and its waiting mails. A repeat changes nothing. */
export async function unsubscribeStatus(ctx: AppContext, by: Actor, token: string): Promise<Result<null>> {
  const id = readToken(ctx.secrets, 'unsubscribe', token)
  if (id === null) return refuse('wrong_status_token')
  return command(ctx, by, async unit => {
    const gone = await unit.tx.delete(statusSubscribers).where(eq(statusSubscribers.id, id)).returning()
    for (const { address } of gone) await forgetWaitingMails(unit, address, STATUS_TEMPLATES)
    return done
  })
}

const STATUS_TEMPLATES = ['status-incident', 'status-confirm'] as const

/** Removes a deleted user's address, subscribed with or without the account. */
export async function forgetSubscriber({ tx }: Unit, address: string): Promise<void> {
  await tx.delete(statusSubscribers).where(eq(statusSubscribers.address, address.toLowerCase()))
}

export const countSubscribers = (db: Executor): Promise<number> =>
  db.$count(statusSubscribers, isNotNull(statusSubscribers.confirmedAt))

/** Links that were never followed. */
export const isUnconfirmed = isNull(statusSubscribers.confirmedAt)

/** Sealed, so that neither the job nor the log of mails contains a working link. It is opened when the mail is sent. */
export const sealedToken = ({ secrets }: Pick<AppContext, 'secrets'>, purpose: 'confirm' | 'unsubscribe', id: number) =>
  secrets.seal(statusToken(secrets, purpose, id)).toString('base64')

/** How many mails one command enqueues. Thousands at once would hold it up for seconds. */
const SLICE = 100

/**
 * Enqueues one update's mails to a slice of the subscribers, and the next slice. A mail's key names update and
 * subscriber, so a repeat mails once. Deleted updates are not mailed.
 */
export const mailUpdate = (
  ctx: AppContext,
  { updateId, after }: { updateId: number; after: number }
): Promise<number> =>
  command(ctx, SYSTEM, async unit => {
    const { tx } = unit
    const [found] = await tx
      .select({ update: incidentUpdates, incident: incidents })
      .from(incidentUpdates)
      .innerJoin(incidents, eq(incidents.id, incidentUpdates.incidentId))
      .where(eq(incidentUpdates.id, updateId))
    if (!found) return 0
    const to = await tx
      .select()
      .from(statusSubscribers)
      .where(and(isNotNull(statusSubscribers.confirmedAt), gt(statusSubscribers.id, after)))
      .orderBy(asc(statusSubscribers.id))
      .limit(SLICE)
    if (to.length === 0) return 0
    const complained = await blockedAmong(
      tx,
      'complained',
      to.map(({ address }) => address)
    )
    // A subscriber who reported the mail as spam is removed.
    if (complained.size > 0)
      await tx.delete(statusSubscribers).where(inArray(statusSubscribers.address, [...complained]))
    const { update, incident } = found
    const [first] = await tx
      .select({ id: incidentUpdates.id })
      .from(incidentUpdates)
      .where(eq(incidentUpdates.incidentId, incident.id))
      .orderBy(asc(incidentUpdates.id))
      .limit(1)
    const places = await tx.select().from(incidentLocations).where(eq(incidentLocations.incidentId, incident.id))
    const named = placesOf(places, await readLocations(tx))
    const data = {
      incident: incident.id,
      title: incident.title,
      state: update.state,
      opens: first?.id === update.id,
      text: update.text,
      started_at: iso(incident.startedAt),
      ends_at: isoOrNull(incident.endsAt)
    }
    for (const { id, address, language } of to)
      if (!complained.has(address))
        enqueueMail(unit, {
          to: address,
          language,
          template: 'status-incident',
          data: {
            ...data,
            locations: named.map(place => inLanguage(language, place.name, place)),
            sealed_token: sealedToken(ctx, 'unsubscribe', id)
          },
          key: `status:${updateId}:${id}`
        })
    const last = to.at(-1)?.id ?? after
    if (to.length === SLICE) unit.jobs.send(statusMailsQueue, { updateId, after: last }, { key: `${updateId}:${last}` })
    return to.length
  })
