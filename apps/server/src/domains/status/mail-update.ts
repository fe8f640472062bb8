import { inLanguage } from '@netlet/contract'
import { and, asc, eq, gt, inArray, isNotNull } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { isoOrNull, iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { blockedAmong, enqueueMail } from '../mail/index.ts'
import { readLocations } from './locations.ts'
import { placesOf } from './present.ts'
import { statusMailsQueue } from './queues.ts'
import { sealedToken } from './subscribers.ts'
import { incidentLocations, incidents, incidentUpdates, statusSubscribers } from './tables.ts'

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
