import { CODE_KINDS, type CodeAct, type CodeDifference, type CodeKind, type CodeState, refuse } from '@netlet/contract'
import { and, asc, eq, gt, inArray, isNull, ne, not, type SQL } from '../../infra/db/drizzle.ts'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type Actor, SYSTEM } from '../../infra/actor.ts'
import { iso, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { versionOf } from '../../infra/version.ts'
import type { WantedDiscount } from '../../integrations/shopify/index.ts'
import { users } from '../accounts/tables.ts'
import { readShopName } from '../settings/index.ts'
import { sameCode } from './codes.ts'
import { codeQueue, endCodeQueue, holderCodesQueue, levelTagQueue } from './queues.ts'
import { coupons, giftCards, levelCodes } from './tables.ts'

export type CodeRef = { kind: CodeKind; id: number }
type Wanted = CodeRef & { wanted: WantedDiscount }

/** These rows, or the next ones by id. */
type Which = { ids: readonly number[] } | { after: number; limit: number }

/**
 * The discounts that codes should have on the platform. A promo code works for its holder, once more than the platform
 * has counted, because it keeps counting refunded uses. A gift card works once for anyone, a level's code for all who
 * know it. Used or handed-out codes and levels without a code are left out.
 */
export function wantedCodes(db: Executor, kind: CodeKind, which: Which): Promise<Wanted[]> {
  if (kind === 'coupon') return wantedCoupons(db, which)
  return kind === 'gift_card' ? wantedGiftCards(db, which) : wantedLevelCodes(db, which)
}

export async function wantedCode(db: Executor, { kind, id }: CodeRef): Promise<WantedDiscount | undefined> {
  const [found] = await wantedCodes(db, kind, { ids: [id] })
  return found?.wanted
}

const chosen = (id: PgColumn, which: Which): SQL => ('ids' in which ? inArray(id, [...which.ids]) : gt(id, which.after))
const most = (which: Which): number => ('ids' in which ? which.ids.length : which.limit)

async function wantedCoupons(db: Executor, which: Which): Promise<Wanted[]> {
  const rows = await db
    .select({ coupon: coupons, email: users.email })
    .from(coupons)
    .innerJoin(users, eq(users.id, coupons.holderId))
    .where(and(chosen(coupons.id, which), not(coupons.isUsed), isNull(users.deletedAt)))
    .orderBy(asc(coupons.id))
    .limit(most(which))
  const shop = await readShopName(db)
  return rows.map(({ coupon, email }) => {
    const uses = 1 + coupon.freedBy.length + coupon.countedBefore
    return {
      kind: 'coupon',
      id: coupon.id,
      wanted: {
        code: coupon.code,
        title: coupon.codeType === 2 ? `${shop} gift` : `${shop} promo code`,
        value: coupon.discount,
        unit: coupon.discountType,
        uses,
        // The platform still counts a refunded payment. Its buyer must be able to use the code again.
        oncePerCustomer: uses === 1,
        holder: email
      }
    }
  })
}

async function wantedGiftCards(db: Executor, which: Which): Promise<Wanted[]> {
  const rows = await db
    .select()
    .from(giftCards)
    .where(and(chosen(giftCards.id, which), not(giftCards.isExchanged)))
    .orderBy(asc(giftCards.id))
    .limit(most(which))
  const shop = await readShopName(db)
  return rows.map(({ id, code, mount }) => ({
    kind: 'gift_card',
    id,
    wanted: {
      code,
      title: `${shop} gift card`,
      value: mount,
      unit: 'amount',
      uses: 1,
      oncePerCustomer: true,
      holder: null
    }
  }))
}

async function wantedLevelCodes(db: Executor, which: Which): Promise<Wanted[]> {
  const rows = await db
    .select()
    .from(levelCodes)
    .where(and(chosen(levelCodes.id, which), ne(levelCodes.code, '')))
    .orderBy(asc(levelCodes.id))
    .limit(most(which))
  const shop = await readShopName(db)
  return rows.map(({ id, level, code, discount, discountType }) => ({
    kind: 'level_code',
    id,
    wanted: {
      code,
      title: `${shop} level ${level}`,
      value: discount,
      unit: discountType,
      uses: null,
      oncePerCustomer: false,
      holder: null
    }
  }))
}

// All three tables have the columns that are read and written here.
const TABLES = { coupon: coupons, gift_card: giftCards, level_code: levelCodes }
const tableOf = (kind: CodeKind) => TABLES[kind] as typeof giftCards

const lockRow = async (tx: Executor, { kind, id }: CodeRef) => {
  const table = tableOf(kind)
  const [row] = await tx
    .select({ state: table.platformState, differs: table.platformDiffers, problem: table.platformProblem })
    .from(table)
    .where(eq(table.id, id))
    .for('update')
  return row
}

/** What the platform has under a code. `problem`: its message, or why the last check failed. */
export type Seen = { state: CodeState; differs?: CodeDifference[]; problem?: string | null }

/**
 * Records what the platform has under a code. If the row has changed since the request, it stays: its change started a
 * check of its own.
 */
export async function recordCode(
  unit: Unit,
  ref: CodeRef,
  wanted: WantedDiscount | undefined,
  seen: Seen
): Promise<void> {
  const row = await lockRow(unit.tx, ref)
  if (!row) return
  const now = await wantedCode(unit.tx, ref)
  if (!isSame(now, wanted)) return
  const { state, differs = [], problem = null } = seen
  const table = tableOf(ref.kind)
  await unit.tx
    .update(table)
    .set({
      platformState: state,
      // Until the platform answers, the last known differences stand.
      platformDiffers: state === 'waiting' ? row.differs : differs,
      platformProblem: problem,
      ...(state === 'waiting' ? {} : { platformCheckedAt: unit.now })
    })
    .where(eq(table.id, ref.id))
  const isNews = row.state !== state || row.problem !== problem || row.differs.join() !== differs.join()
  if (isNews) unit.publish(ref.kind, ref.id)
}

const isSame = (one: WantedDiscount | undefined, other: WantedDiscount | undefined): boolean =>
  versionOf({ wanted: one ?? null }) === versionOf({ wanted: other ?? null })

/**
 * Checks after a write to the platform whether the row still wants what was written. If it no longer has the code, the
 * discount there ends.
 * @param isLate the write may still be under way, because the platform's answer was lost
 * @returns false if something else has to be written now
 */
export async function isAsWanted(
  unit: Unit,
  ref: CodeRef,
  { wanted, isLate }: { wanted: WantedDiscount; isLate: boolean }
): Promise<boolean> {
  const now = await wantedCode(unit.tx, ref)
  if (now?.code.toLowerCase() !== wanted.code.toLowerCase()) endCode(unit, wanted.code, isLate ? MINUTE : 0)
  return now === undefined || isSame(now, wanted)
}

/** Enqueues a check of a code on the platform. Refuses 'not_found', 'code_used' and 'no_code'. */
export const askPlatform = (ctx: AppContext, by: Actor, ref: CodeRef & { act: CodeAct }) =>
  command(ctx, by, async unit => {
    const asked = await askPlatformIn(unit, ref, ref.act)
    return asked.ok ? ok({ status: 'queued' as const }) : asked
  })

/** `askPlatform` as a part of a larger write. */
export async function askPlatformIn(unit: Unit, ref: CodeRef, act: CodeAct): Promise<Result<null>> {
  const row = await lockRow(unit.tx, ref)
  if (!row) return refuse('not_found')
  if (!(await wantedCode(unit.tx, ref))) return refuse(ref.kind === 'level_code' ? 'no_code' : 'code_used')
  await requestCheck(unit, ref, act)
  if (act === 'create') unit.audit(`${ref.kind}.create_there`, ref.id)
  return done
}

/** Call it after a code was added. */
export const checkCodeOnPlatform = (unit: Unit, ref: CodeRef): Promise<void> => requestCheck(unit, ref, 'check')

/** Call it after a code or its value changed. The shop's own discount follows. */
export const syncCode = (unit: Unit, ref: CodeRef): Promise<void> => requestCheck(unit, ref, 'follow')

/** Call it after a code was handed out for coins. A missing discount is created. */
export const createCode = (unit: Unit, ref: CodeRef): Promise<void> => requestCheck(unit, ref, 'create')

async function requestCheck(unit: Unit, { kind, id }: CodeRef, act: CodeAct | 'follow'): Promise<void> {
  const table = tableOf(kind)
  await unit.tx.update(table).set({ platformState: 'waiting', platformProblem: null }).where(eq(table.id, id))
  unit.jobs.send(codeQueue, { kind, id, act }, { key: `${kind}:${id}:${act}` })
  unit.publish(kind, id)
}

/**
 * Call it after a code was deleted, renamed or marked as used. The shop's discount of it ends.
 * @param startIn milliseconds from now
 */
export function endCode(unit: Unit, code: string, startIn = 0): void {
  const key = code.toLowerCase()
  if (code !== '') unit.jobs.send(endCodeQueue, { code }, startIn > 0 ? { key: `late:${key}`, startIn } : { key })
}

/** A code was used by another customer than its holder; see `markUsedByOthers`. */
export async function markSpent(unit: Unit, ref: CodeRef): Promise<void> {
  const { kind, id } = ref
  const table = tableOf(kind)
  await unit.tx
    .update(table)
    .set({ platformState: 'differs', platformDiffers: ['used'], platformProblem: null })
    .where(eq(table.id, id))
  // The platform counts a use with some delay, so an earlier answer may be outdated.
  unit.jobs.send(codeQueue, { kind, id, act: 'check' }, { key: `${kind}:${id}:counted`, startIn: 2 * MINUTE })
  unit.publish(kind, id)
}

/**
 * Updates the discount of a code to what its current row wants. A used or handed-out code wants none.
 * @returns whether a row wants one
 */
export async function syncCurrentOwner(unit: Unit, code: string): Promise<boolean> {
  const refs: CodeRef[] = []
  for (const kind of CODE_KINDS) {
    const table = tableOf(kind)
    const rows = await unit.tx.select({ id: table.id }).from(table).where(sameCode(table.code, code))
    for (const { id, wanted } of await wantedCodes(unit.tx, kind, { ids: rows.map(row => row.id) }))
      if (wanted.code.toLowerCase() === code.toLowerCase()) refs.push({ kind, id })
  }
  for (const ref of refs) await syncCode(unit, ref)
  return refs.length > 0
}

/** A row's state on the platform, for the reply. @param isKnown whether the reader may see it */
export const presentPlatformState = (
  row: Pick<
    typeof giftCards.$inferSelect,
    'platformState' | 'platformDiffers' | 'platformProblem' | 'platformCheckedAt'
  >,
  { isKnown = true }: { isKnown?: boolean } = {}
) => ({
  platform_state: isKnown ? row.platformState : null,
  platform_differs: isKnown && row.platformState === 'differs' ? row.platformDiffers : [],
  platform_problem: isKnown ? row.platformProblem : null,
  platform_checked_at: isKnown && row.platformCheckedAt ? iso(row.platformCheckedAt) : null
})

/** A row for the audit log, without the platform's state, which is not an administrator's decision. */
export function withoutPlatformState<T extends object>(row: T): Partial<T> {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('platform'))) as Partial<T>
}

/** Call it after a user's e-mail changed. The platform finds a code's holder and the customer to tag by it. */
export function syncCodesToAddress(unit: Unit, userId: number): void {
  unit.jobs.send(holderCodesQueue, { userId }, { key: String(userId) })
  unit.jobs.send(levelTagQueue, { userId }, { key: String(userId) })
}

/** Codes in one transaction. */
const BATCH = 100

/** Updates the discounts of a holder's unused promo codes. Idempotent, so an interrupted run may start over. */
export async function syncCodesOf(ctx: AppContext, { userId }: { userId: number }): Promise<void> {
  const next = (after: number) =>
    command(ctx, SYSTEM, async unit => {
      const rows = await unit.tx
        .select({ id: coupons.id })
        .from(coupons)
        .where(and(eq(coupons.holderId, userId), not(coupons.isUsed), gt(coupons.id, after)))
        .orderBy(asc(coupons.id))
        .limit(BATCH)
      for (const { id } of rows) await syncCode(unit, { kind: 'coupon', id })
      return rows.at(-1)?.id
    })
  for (let after: number | undefined = 0; after !== undefined;) after = await next(after)
}

/** Call it before a holder is deleted, so that the remaining codes stop working. */
export async function endCodesOf(unit: Unit, userId: number): Promise<void> {
  const rows = await unit.tx
    .select({ code: coupons.code })
    .from(coupons)
    .where(and(eq(coupons.holderId, userId), not(coupons.isUsed)))
  for (const { code } of rows) endCode(unit, code)
}
