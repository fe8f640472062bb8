import { and, eq, inArray, isNull, or, sql } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { userColumns } from './present-user.ts'
import { users } from './tables.ts'

/**
 * Adds to a user's coins, millionths, level points and owed coins; negative numbers subtract. The caller writes the
 * record of the change in the same command.
 * @throws if a balance would become negative: the caller has locked the user and checked
 */
export async function changeBalance(
  unit: Unit,
  userId: number,
  {
    coins = 0,
    coinMillionths = 0,
    levelPoints = 0,
    coinsOwed = 0
  }: { coins?: number; coinMillionths?: number; levelPoints?: number; coinsOwed?: number }
): Promise<void> {
  await unit.tx
    .update(users)
    .set({
      coins: sql`${users.coins} + ${coins}`,
      coinMillionths: sql`${users.coinMillionths} + ${coinMillionths}`,
      levelPoints: sql`${users.levelPoints} + ${levelPoints}`,
      coinsOwed: sql`${users.coinsOwed} + ${coinsOwed}`
    })
    .where(eq(users.id, userId))
  unit.publish('user', userId, userId)
}

/**
 * Adds to many users' level points in one statement. The caller has locked these users and read their points. It
 * throws, which rolls the command back, if a balance would become negative (users_level_points).
 * @param changes one entry for each user; negative points subtract
 */
export async function changeLevelPoints(unit: Unit, changes: { userId: number; points: number }[]): Promise<void> {
  if (changes.length === 0) return
  await unit.tx.execute(sql`
    update ${users} u set level_points = u.level_points + c.points
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as c("userId" bigint, points bigint)
    where u.id = c."userId"`)
  unit.publish('user', undefined, 'everyone')
}

/** Locks a user unless it was deleted. */
export async function lockUser(tx: Executor, userId: number) {
  const [user] = await tx
    .select(userColumns)
    .from(users)
    .where(and(eq(users.id, userId), isNull(users.deletedAt)))
    .for('update')
  return user
}

/** Locks a user, even a deleted one, and returns its balances. */
export async function lockBalance(tx: Executor, userId: number) {
  const [user] = await tx
    .select({
      coins: users.coins,
      coinMillionths: users.coinMillionths,
      coinsOwed: users.coinsOwed,
      levelPoints: users.levelPoints
    })
    .from(users)
    .where(eq(users.id, userId))
    .for('no key update')
  return user
}

/** Locks the active user with this chat account and returns its id. */
export async function lockUserOfDiscord(tx: Executor, discordId: string): Promise<number | undefined> {
  const [user] = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.discordId, discordId), eq(users.isActive, true)))
    .for('update')
  return user?.id
}

/**
 * Locks a user and its inviter, the lower id first, as everywhere. New rows that refer to them, such as orders, do not
 * wait.
 */
export async function lockUserAndInviter(tx: Executor, userId: number): Promise<void> {
  const inviter = tx.select({ id: users.invitedBy }).from(users).where(eq(users.id, userId))
  await tx
    .select({ id: users.id })
    .from(users)
    .where(or(eq(users.id, userId), inArray(users.id, inviter)))
    .orderBy(users.id)
    .for('no key update')
}
