import { refuse, type LevelCode } from '@netlet/contract'
import { asc, desc, eq, ilike, lte, ne, or, sql } from 'drizzle-orm'
import type { Database, Executor } from '../../infra/db/client.ts'
import { refuseTaken } from '../../infra/db/taken.ts'
import type { Actor } from '../../infra/actor.ts'
import { containing } from '../../infra/db/like.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import { record } from '../audit/index.ts'
import { levelCodes } from './tables.ts'

const SEED = [100, 5000, 10_000, 20_000, 50_000]

/** The five levels of a new shop. A shop that has any is left as it is, so that a deleted level stays deleted. */
export async function seedLevelCodes(db: Executor): Promise<void> {
  const present = await db.select({ id: levelCodes.id }).from(levelCodes).limit(1)
  if (present.length > 0) return
  await db
    .insert(levelCodes)
    .values(SEED.map((point, at) => ({ level: at + 1, point, discount: '0.00', code: '' })))
    .onConflictDoNothing()
}

/** The discount code that the user's level brings at the checkout; null where there is none. */
export async function discountCodeFor(db: Executor, userId: number): Promise<string | null> {
  const [level] = await db
    .select({ code: levelCodes.code })
    .from(users)
    .innerJoin(levelCodes, lte(levelCodes.point, users.levelPoints))
    .where(eq(users.id, userId))
    .orderBy(desc(levelCodes.level))
    .limit(1)
  return level?.code || null
}

/** Levels in their order; codes are for administrators' eyes. */
export const levelCodeList = ({ withCodes }: { withCodes: boolean }) =>
  defineList<ListInput<'level'>, LevelCode>({
    name: 'level_codes',
    table: levelCodes,
    id: levelCodes.id,
    sort: { level: levelCodes.level },
    match: (_db, { search }) => {
      if (search === undefined) return {}
      const level = sql`${levelCodes.level}::text = ${search}`
      // A search must not tell those who may not see the codes which ones there are.
      return { where: [withCodes ? or(ilike(levelCodes.code, containing(search)), level) : level] }
    },
    async load(db, ids) {
      const rows = await db.select().from(levelCodes).where(among(levelCodes.id, ids))
      return rows.map(row => ({ ...row, code: withCodes ? row.code : null }))
    }
  })

type LevelForm = { discount: string; code: string; point: number }

/** Adds a level that is missing. */
export function createLevelCode(
  db: Database,
  by: Actor,
  form: LevelForm & { level: number }
): Promise<Result<LevelCode>> {
  return refuseTaken({ level_codes_level_unique: 'conflict' }, () =>
    db.transaction(async tx => {
      await lockLevels(tx)
      const wrong = await outOfOrder(tx, form)
      if (wrong) return wrong
      const [made] = await tx.insert(levelCodes).values(form).returning()
      if (!made) throw new Error('the level was not added')
      await record(tx, by, { action: 'create level', targetType: 'level_code', targetId: made.id, after: made })
      return ok(made)
    })
  )
}

export async function updateLevelCode(
  db: Database,
  by: Actor,
  id: number,
  form: LevelForm
): Promise<Result<LevelCode>> {
  return db.transaction(async tx => {
    await lockLevels(tx)
    const [before] = await tx.select().from(levelCodes).where(eq(levelCodes.id, id))
    if (!before) return refuse('not_found')
    const wrong = await outOfOrder(tx, { ...form, level: before.level })
    if (wrong) return wrong
    const after = { ...before, ...form }
    await tx.update(levelCodes).set(form).where(eq(levelCodes.id, id))
    await record(tx, by, { action: 'edit level', targetType: 'level_code', targetId: id, before, after })
    return ok(after)
  })
}

export async function deleteLevelCode(db: Database, by: Actor, id: number): Promise<Result<null>> {
  return db.transaction(async tx => {
    const [before] = await tx.delete(levelCodes).where(eq(levelCodes.id, id)).returning()
    if (!before) return refuse('not_found')
    await record(tx, by, { action: 'delete level', targetType: 'level_code', targetId: id, before })
    return done
  })
}

/** Thresholds are looked at and written by one administrator at a time; readers are not kept waiting. */
const lockLevels = (tx: Executor) => tx.execute(sql`lock table level_codes in share row exclusive mode`)

/** A higher level asks for more points than every lower one, or people could fall while they rise. */
async function outOfOrder(tx: Executor, { level, point }: { level: number; point: number }) {
  const others = await tx.select().from(levelCodes).where(ne(levelCodes.level, level)).orderBy(asc(levelCodes.level))
  const below = others.findLast(other => other.level < level)
  const above = others.find(other => other.level > level)
  const msg =
    below && point <= below.point
      ? `Must be more than the ${below.point} points of level ${below.level}`
      : above && point >= above.point
        ? `Must be less than the ${above.point} points of level ${above.level}`
        : undefined
  return msg ? refuse('invalid', { msg, data: { errors: { point: msg } } }) : undefined
}
