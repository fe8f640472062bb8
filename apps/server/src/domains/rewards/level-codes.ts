import { type CodeState, type DiscountType, type LevelCode, type LevelDiscount, refuse } from '@netlet/contract'
import { and, asc, desc, eq, gt, ilike, inArray, lte, ne, or, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM, type Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { containing } from '../../infra/db/like.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { staleEdit, versionOf, type Edit } from '../../infra/version.ts'
import type { Threshold } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { isCodeTaken, lockCodes, tooManyPercent } from './codes.ts'
import { syncLevelTags } from './grant.ts'
import { endCode, syncCode, checkCodeOnPlatform, presentPlatformState, withoutPlatformState } from './platform-codes.ts'
import { levelCodes } from './tables.ts'

/**
 * The discounts of these level codes at the checkout. It leaves out codes that no level has any more, and those that
 * the platform was not last seen to have as they are now, because their discount may differ.
 */
export async function levelDiscounts(
  db: Executor,
  codes: readonly (string | null)[]
): Promise<ReadonlyMap<string | null, LevelDiscount>> {
  const wanted = [...new Set(codes)].filter(code => code !== null && code !== '') as string[]
  if (wanted.length === 0) return new Map()
  const rows = await db
    .select({
      code: levelCodes.code,
      level: levelCodes.level,
      discount: levelCodes.discount,
      discount_type: levelCodes.discountType
    })
    .from(levelCodes)
    .where(and(inArray(levelCodes.code, wanted), eq(levelCodes.platformState, 'present'), gt(levelCodes.discount, '0')))
  return new Map(rows.map(({ code, ...discount }) => [code, discount]))
}

/** The same for one code. */
export const levelDiscount = async (db: Executor, code: string | null): Promise<LevelDiscount | null> =>
  (await levelDiscounts(db, [code])).get(code) ?? null

const SEED = [100, 5000, 10_000, 20_000, 50_000]

/** The five levels of a new shop. A shop with levels stays as it is, so that deleted levels stay deleted. */
export async function seedLevelCodes(ctx: AppContext): Promise<void> {
  await command(ctx, SYSTEM, async ({ tx }) => {
    const present = await tx.select({ id: levelCodes.id }).from(levelCodes).limit(1)
    if (present.length > 0) return
    await tx
      .insert(levelCodes)
      .values(SEED.map((point, at) => ({ level: at + 1, point, discount: '0.00', code: '' })))
      .onConflictDoNothing()
  })
}

export const levelThresholds = (db: Executor): Promise<Threshold[]> =>
  db.select({ level: levelCodes.level, point: levelCodes.point }).from(levelCodes)

/** The discount code of the user's level at the checkout; null if there is none. */
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

/** Levels in order. Only administrators see their codes. */
export const levelCodeList = ({ withCodes }: { withCodes: boolean }) =>
  defineList<ListInput<'level'> & { platform_state?: CodeState | undefined }, LevelCode>({
    name: 'level_codes',
    table: levelCodes,
    id: levelCodes.id,
    sort: { level: levelCodes.level },
    match: (_db, { search, platform_state }) => {
      const inState = withCodes && platform_state ? eq(levelCodes.platformState, platform_state) : undefined
      if (search === undefined) return { where: [inState] }
      const level = sql`${levelCodes.level}::text = ${search}`
      // Others must not be able to guess codes by searching.
      return { where: [inState, withCodes ? or(ilike(levelCodes.code, containing(search)), level) : level] }
    },
    async load(db, ids) {
      const rows = await db.select().from(levelCodes).where(among(levelCodes.id, ids))
      return rows.map(row => present(row, { withCodes }))
    }
  })

type LevelForm = { discount: string; discount_type?: DiscountType | undefined; code: string; point: number }
type LevelRow = typeof levelCodes.$inferSelect

const fieldsOf = ({
  discount,
  discount_type,
  code,
  point
}: Pick<LevelCode, 'discount' | 'code' | 'point'> & { discount_type?: DiscountType | undefined }) => ({
  discount,
  discount_type,
  code,
  point
})

/** If the reader may not see the code, the version does not depend on it either. */
function present(row: LevelRow, { withCodes = true }: { withCodes?: boolean } = {}): LevelCode {
  const { id, level, discount, discountType: discount_type, point } = row
  const fields = { discount, discount_type, code: withCodes ? row.code : null, point }
  return {
    id,
    level,
    ...fields,
    ...presentPlatformState(row, { isKnown: withCodes }),
    version: versionOf(fieldsOf(fields))
  }
}

/** The columns of a form. @param before kept for fields that the form leaves out */
const columnsOf = (
  { discount, discount_type, code, point }: LevelForm,
  before?: LevelRow
): Pick<LevelRow, 'discount' | 'discountType' | 'code' | 'point'> => ({
  discount,
  discountType: discount_type ?? before?.discountType ?? 'amount',
  code,
  point
})

/** Adds a missing level. */
export function createLevelCode(
  ctx: AppContext,
  by: Actor,
  form: LevelForm & { level: number }
): Promise<Result<LevelCode>> {
  return command(ctx, by, { unique: { level_codes_level_unique: 'conflict' } }, async unit => {
    const { tx } = unit
    await lockCodes(tx)
    await lockLevels(tx)
    const wrong = await outOfOrder(tx, form)
    if (wrong) return wrong
    if (await isCodeTaken(tx, { kind: 'level_code', code: form.code })) return refuse('code_taken')
    const columns = columnsOf(form)
    const percent = tooManyPercent(columns.discount, columns.discountType)
    if (percent) return percent
    const [made] = await tx
      .insert(levelCodes)
      .values({ ...columns, level: form.level })
      .returning()
    if (!made) throw new Error('the level was not added')
    await checkCodeOnPlatform(unit, { kind: 'level_code', id: made.id })
    syncLevelTags(unit)
    unit.audit('level_code.create', made.id, { after: withoutPlatformState(made) })
    return ok(present({ ...made, platformState: 'waiting' }))
  })
}

export async function updateLevelCode(
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<LevelForm>
): Promise<Result<LevelCode>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    await lockCodes(tx)
    await lockLevels(tx)
    const [before] = await tx.select().from(levelCodes).where(eq(levelCodes.id, id))
    if (!before) return refuse('not_found')
    const shown = present(before)
    const stale = staleEdit(version, shown, { now: fieldsOf(shown), sent: fieldsOf(form) })
    if (stale) return stale
    const columns = columnsOf(form, before)
    const wrong = await outOfOrder(tx, { ...form, level: before.level })
    if (wrong) return wrong
    const { code } = columns
    if (await isCodeTaken(tx, { kind: 'level_code', code, kept: before.code })) return refuse('code_taken')
    const percent = tooManyPercent(columns.discount, columns.discountType)
    if (percent) return percent
    await tx.update(levelCodes).set(columns).where(eq(levelCodes.id, id))
    if (before.code !== columns.code) endCode(unit, before.code)
    await syncCode(unit, { kind: 'level_code', id })
    if (before.point !== columns.point) syncLevelTags(unit)
    const [after] = await tx.select().from(levelCodes).where(eq(levelCodes.id, id))
    if (!after) return refuse('not_found')
    unit.audit('level_code.edit', id, { before: withoutPlatformState(before), after: withoutPlatformState(after) })
    return ok(present(after))
  })
}

export async function deleteLevelCode(ctx: AppContext, by: Actor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [before] = await tx.delete(levelCodes).where(eq(levelCodes.id, id)).returning()
    if (!before) return refuse('not_found')
    endCode(unit, before.code)
    syncLevelTags(unit)
    unit.audit('level_code.delete', id, { before: withoutPlatformState(before) })
    return done
  })
}

/** One command at a time checks and writes the thresholds. Readers do not wait. */
const lockLevels = (tx: Executor) => tx.execute(sql`lock table level_codes in share row exclusive mode`)

/** A higher level needs more points than all lower ones, or earning points could lower a user's level. */
async function outOfOrder(tx: Executor, { level, point }: { level: number; point: number }) {
  const others = await tx.select().from(levelCodes).where(ne(levelCodes.level, level)).orderBy(asc(levelCodes.level))
  const below = others.findLast(other => other.level < level)
  const above = others.find(other => other.level > level)
  const other = below && point <= below.point ? below : above && point >= above.point ? above : undefined
  return other && fieldRefusal('point', 'level_points_order', { points: other.point, level: other.level })
}
