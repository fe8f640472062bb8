import { lt } from 'drizzle-orm'
import { DAY, HOUR } from '../../infra/clock.ts'
import { queue } from '../../infra/jobs.ts'
import type { AppContext } from '../../infra/context.ts'
import { FAILURE_WINDOW } from './attempts.ts'
import { REPORTS_KEPT } from './chat-points.ts'
import { captchas, chatEvents, chatPoints, emailCodes, loginFailures, oauthStates, sessions } from './tables.ts'

export const housekeepingQueue = queue<object>('accounts-housekeeping')

/** Registers the domain's background work in this process. */
export async function accountJobs(ctx: AppContext): Promise<void> {
  await ctx.jobs.work(housekeepingQueue, () => removeExpired(ctx))
  await ctx.jobs.schedule(housekeepingQueue, '*/10 * * * *')
}

/** Removes what time has made useless: sessions, codes, captchas, counted failures, journeys, reports. */
export async function removeExpired({ db, now }: Pick<AppContext, 'db' | 'now'>): Promise<void> {
  const at = now()
  const ago = (milliseconds: number) => new Date(at.getTime() - milliseconds)
  await db.delete(sessions).where(lt(sessions.expiresAt, at))
  // An hour longer, so that who types an old code is told so, and the pause between mails is kept.
  await db.delete(emailCodes).where(lt(emailCodes.expiresAt, ago(HOUR)))
  await db.delete(captchas).where(lt(captchas.expiresAt, at))
  await db.delete(loginFailures).where(lt(loginFailures.at, ago(FAILURE_WINDOW)))
  await db.delete(oauthStates).where(lt(oauthStates.expiresAt, at))
  await db.delete(chatEvents).where(lt(chatEvents.receivedAt, ago(REPORTS_KEPT)))
  await db.delete(chatPoints).where(
    lt(
      chatPoints.day,
      ago(7 * DAY)
        .toISOString()
        .slice(0, 10)
    )
  )
}
