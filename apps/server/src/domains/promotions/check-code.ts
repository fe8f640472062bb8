import type { CodeAct } from '@netlet/contract'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import {
  type FoundDiscount,
  SHOP_DISCOUNT_TAG,
  type Shopify,
  type ShopifyFailure,
  type WantedDiscount,
  differencesOf
} from '../../integrations/shopify/index.ts'
import { openPlatform } from '../commerce/index.ts'
import {
  type CodeRef,
  type Seen,
  syncCurrentOwner,
  isAsWanted,
  recordCode,
  noticeUnusable,
  wantedCode
} from '../rewards/index.ts'

/** How often one job writes while the row keeps changing. */
const ROUNDS = 3

/**
 * Records what the platform has under one code; 'create' first makes a missing discount. An existing discount is
 * adopted if it is as wanted; a different one is left alone unless the shop made it. After a lost answer the retry
 * finds what was made. The row is read again after each write, so the last write matches the last change.
 * @throws if a retry may help; until then the row shows why it failed
 */
export async function checkCodeOnPlatform(
  ctx: AppContext,
  { kind, id, act }: CodeRef & { act: CodeAct | 'follow' }
): Promise<void> {
  const ref = { kind, id }
  for (let round = 0; round < ROUNDS; round++) {
    const wanted = await wantedCode(ctx.db, ref)
    const platform = await openPlatform(ctx)
    if (!wanted || !platform.ok)
      return command(ctx, SYSTEM, unit => recordCode(unit, ref, wanted, { state: 'unknown' }))
    const { found, isWritten } = await checkAndCorrect(platform.data, wanted, { act, now: ctx.now() })
    const failure = isFailure(found) ? found : null
    const mayRetry = failure !== null && failure.reason !== 'rejected' && failure.reason !== 'not_found'
    const seen: Seen = isFailure(found) ? { state: mayRetry ? 'waiting' : 'refused', problem: found.message } : found
    const isDone = await command(ctx, SYSTEM, async unit => {
      await recordCode(unit, ref, wanted, seen)
      if (act === 'create' && !mayRetry && !isUsable(seen)) await noticeUnusable(unit, ref)
      return !isWritten || isAsWanted(unit, ref, { wanted, isLate: failure !== null })
    })
    if (failure && mayRetry) throw new Error(failure.message)
    if (isDone) return
  }
  throw new Error('The code kept changing while the shop wrote it to the platform.')
}

/** A discount that an operator made by hand has no holder: it works for its buyer as for all. */
const isUsable = ({ state, differs = [] }: Seen): boolean =>
  state === 'present' || (differs.length > 0 && differs.every(one => one === 'holder' || one === 'foreign'))

const isFailure = (found: Seen | ShopifyFailure): found is ShopifyFailure => 'ok' in found

/** `isWritten`: the platform was asked to write, with any answer. */
type Checked = { found: Seen | ShopifyFailure; isWritten: boolean }

async function checkAndCorrect(
  platform: Shopify,
  wanted: WantedDiscount,
  { act, now }: { act: CodeAct | 'follow'; now: Date }
): Promise<Checked> {
  const read = await platform.discounts([wanted])
  if (!read.ok) return { found: read, isWritten: false }
  const there = read.value.get(wanted.code) ?? null
  const seen = compareDiscount(there, wanted)
  const isLeft = there ? !isOurs(there) || !canCorrect(seen) : act === 'follow'
  if (act === 'check' || isLeft) return { found: seen, isWritten: false }
  const written = there ? await platform.updateDiscount(there, wanted, now) : await platform.createDiscount(wanted, now)
  if (!written.ok) return { found: written, isWritten: true }
  // Reads it again: another discount may have come first, or the platform may have changed ours.
  const after = await platform.discounts([wanted])
  return { found: after.ok ? compareDiscount(after.value.get(wanted.code) ?? null, wanted) : after, isWritten: true }
}

/** A change cannot undo uses that the platform has counted, nor give the code another name. */
const canCorrect = ({ differs = [] }: Seen): boolean => differs.some(one => one !== 'used' && one !== 'comma')

/** Compares what the platform has under a code with what it should have. */
export function compareDiscount(there: FoundDiscount | null, wanted: WantedDiscount): Seen {
  if (!there) return { state: 'missing' }
  const differs = differencesOf(there, wanted)
  if (differs.length === 0) return { state: 'present' }
  return { state: 'differs', differs: isOurs(there) ? differs : [...differs, 'foreign'] }
}

const isOurs = ({ basic }: FoundDiscount): boolean => basic?.tags.includes(SHOP_DISCOUNT_TAG) ?? false

/**
 * Ends the shop's discount of a code that was deleted, renamed or marked as used. It leaves discounts that the shop did
 * not make. If another row has the code, the discount follows that row instead.
 * @throws if a retry may help
 */
export async function endCode(ctx: AppContext, { code }: { code: string }): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  const isWanted = () => command(ctx, SYSTEM, unit => syncCurrentOwner(unit, code))
  if (await isWanted()) return
  const read = await platform.data.discounts([{ code, holder: null }])
  if (!read.ok) throw new Error(read.message)
  const there = read.value.get(code)
  if (!there || !isOurs(there) || there.basic?.status === 'EXPIRED') return
  const ended = await platform.data.endDiscount(there)
  // Even if the answer was lost: the discount may have ended.
  await isWanted()
  if (ended.ok) return
  if (ended.reason !== 'rejected') throw new Error(ended.message)
  ctx.log.error({ reason: ended.message }, 'the platform did not end a discount')
}
