import { and, eq, gt, lt, lte } from '../../../infra/db/drizzle.ts'
import type { Actor, UserActor } from '../../../infra/actor.ts'
import { MINUTE } from '../../../infra/clock.ts'
import { command, type Unit } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { hashToken, randomToken } from '../../../infra/secrets.ts'
import type { PasskeyPage } from './passkeys.ts'
import { secondFactorTickets } from './tables.ts'

type Row = typeof secondFactorTickets.$inferSelect
type Purpose = Row['purpose']

const LIFE = 5 * MINUTE
/** The QR code has to be scanned first. */
const ENROL_LIFE = 15 * MINUTE
const MAX_TRIES = 5

type Content = Partial<Pick<Row, 'userId' | 'method' | 'kind' | 'secret' | 'challenge' | 'origin'>>

/** A ticket for a browser without a session. @returns its token */
export async function openTicket(unit: Unit, purpose: 'log_in' | 'passkey', content: Content): Promise<string> {
  const token = randomToken()
  await insert(unit, hashToken(token), purpose, content)
  return token
}

/** A session's ticket, one for each purpose. Another one replaces it. */
export async function openSessionTicket(
  unit: Unit,
  by: UserActor,
  purpose: 'enrol' | 'confirm',
  content: Content
): Promise<void> {
  const hash = sessionTicket(by, purpose)
  await unit.tx.delete(secondFactorTickets).where(eq(secondFactorTickets.tokenHash, hash))
  await insert(unit, hash, purpose, { ...content, userId: by.id })
}

export const sessionTicket = (by: UserActor, purpose: 'enrol' | 'confirm'): Buffer =>
  hashToken(`${purpose} ${by.id} ${by.sessionHash?.toString('base64url') ?? ''}`)

async function insert({ tx, now }: Unit, tokenHash: Buffer, purpose: Purpose, content: Content): Promise<void> {
  // Repeated log-ins leave no rows behind.
  if (content.userId)
    await tx
      .delete(secondFactorTickets)
      .where(and(eq(secondFactorTickets.userId, content.userId), lte(secondFactorTickets.expiresAt, now)))
  const expiresAt = new Date(now.getTime() + (purpose === 'enrol' ? ENROL_LIFE : LIFE))
  await tx.insert(secondFactorTickets).values({ ...content, tokenHash, purpose, createdAt: now, expiresAt })
}

const live = (tokenHash: Buffer, purpose: Purpose, now: Date) =>
  and(
    eq(secondFactorTickets.tokenHash, tokenHash),
    eq(secondFactorTickets.purpose, purpose),
    gt(secondFactorTickets.expiresAt, now),
    lt(secondFactorTickets.tries, MAX_TRIES)
  )

export async function findTicket(ctx: Pick<AppContext, 'db' | 'now'>, tokenHash: Buffer, purpose: Purpose) {
  const [row] = await ctx.db
    .select()
    .from(secondFactorTickets)
    .where(live(tokenHash, purpose, ctx.now()))
  return row
}

/** Gives a live ticket a new challenge. False if there is none. */
export async function challengeTicket(
  { tx, now }: Unit,
  tokenHash: Buffer,
  challenge: string,
  page: PasskeyPage
): Promise<boolean> {
  const given = await tx
    .update(secondFactorTickets)
    .set({ challenge, origin: page.origin })
    .where(live(tokenHash, 'log_in', now))
    .returning({ purpose: secondFactorTickets.purpose })
  return given.length > 0
}

/**
 * Counts a try before it is made, and uses the challenge up. A command of its own, because a refusal must not revert
 * this. @returns the ticket with its challenge; undefined if there is none, or it was tried too often
 */
export const takeTry = (ctx: AppContext, by: Actor, tokenHash: Buffer, purpose: Purpose): Promise<Row | undefined> =>
  command(ctx, by, async ({ tx, now }) => {
    const [row] = await tx
      .select()
      .from(secondFactorTickets)
      .where(live(tokenHash, purpose, now))
      .for('update')
    if (row)
      await tx
        .update(secondFactorTickets)
        .set({ tries: row.tries + 1, challenge: null })
        .where(eq(secondFactorTickets.tokenHash, tokenHash))
    return row
  })

/** Uses a ticket up. False if a concurrent call did. */
export async function useTicket({ tx }: Unit, tokenHash: Buffer): Promise<boolean> {
  const used = await tx
    .delete(secondFactorTickets)
    .where(eq(secondFactorTickets.tokenHash, tokenHash))
    .returning({ purpose: secondFactorTickets.purpose })
  return used.length > 0
}

/** Ends what waits for a second factor of a user. */
export async function endTickets({ tx }: Pick<Unit, 'tx'>, userId: number): Promise<void> {
  await tx.delete(secondFactorTickets).where(eq(secondFactorTickets.userId, userId))
}
