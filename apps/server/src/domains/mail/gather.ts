import { SYSTEM } from '../../infra/actor.ts'
import { SECOND } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { and, asc, eq, sql } from '../../infra/db/drizzle.ts'
import { queue } from '../../infra/jobs.ts'
import { among } from '../../infra/list/index.ts'
import type { MailRequest } from './render-mail.ts'
import { enqueueMail } from './send-mail.ts'
import { mailParts } from './tables.ts'
import type { GatheredTemplate } from './templates/index.ts'

/** The mail leaves when no part has come between two looks, and after this many in any case. */
const LOOK = 15 * SECOND
const MOST_LOOKS = 40

type Cause = { cause: string; to: string }
/** `last`: the newest part of the look before. */
type Gathering = Cause & { last?: number; looks?: number }

export const gatherMailQueue = queue<Gathering>('gather-mail', { deleteAfterSeconds: 300 })

const keyOf = ({ cause, to }: Cause): string => `${cause}:${to.toLowerCase()}`

/**
 * Sends one mail for all parts with the same cause, recipient and template, a little after the last one. Its key is the
 * first part's. @param cause such as 'run:12'
 */
export async function gatherMail<T extends GatheredTemplate>(
  unit: Unit,
  cause: string,
  request: MailRequest<T>
): Promise<void> {
  const { to } = request
  await unit.tx.insert(mailParts).values({ cause, to, request, createdAt: unit.now })
  unit.jobs.send(gatherMailQueue, { cause, to }, { key: keyOf({ cause, to }), startIn: LOOK })
}

/** Enqueues the mail, or waits again while parts still come. A repeat finds no parts and does nothing. */
export const sendGathered = (ctx: AppContext, gathering: Gathering): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    const { tx } = unit
    const parts = await tx
      .select()
      .from(mailParts)
      .where(and(eq(mailParts.cause, gathering.cause), sql`lower(${mailParts.to}) = ${gathering.to.toLowerCase()}`))
      .orderBy(asc(mailParts.id))
      .for('update')
    const last = parts.at(-1)?.id
    if (last === undefined) return
    const { looks = 1 } = gathering
    if (gathering.last !== last && looks < MOST_LOOKS)
      return unit.jobs.send(
        gatherMailQueue,
        { ...gathering, last, looks: looks + 1 },
        { key: keyOf(gathering), startIn: LOOK }
      )
    const requests = parts.map(part => part.request as MailRequest<GatheredTemplate>)
    for (const [alone, ...more] of Map.groupBy(requests, ({ template }) => template).values()) {
      if (!alone) continue
      const others = more.length === 0 ? {} : { more: more.map(({ data }) => data) }
      enqueueMail(unit, { ...alone, data: { ...alone.data, ...others } } as MailRequest<GatheredTemplate>)
    }
    await tx.delete(mailParts).where(
      among(
        mailParts.id,
        parts.map(({ id }) => id)
      )
    )
  })
