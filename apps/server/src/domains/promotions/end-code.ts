import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { openPlatform } from '../commerce/index.ts'
import { followCurrentOwner } from '../rewards/index.ts'
import { isOurs } from './check-code.ts'

/**
 * Ends the shop's discount of a code that was deleted, renamed or marked as used. It leaves discounts that the shop did
 * not make. If another row has the code, the discount follows that row instead.
 * @throws if a retry may help
 */
export async function endCode(ctx: AppContext, { code }: { code: string }): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  const isWanted = () => command(ctx, SYSTEM, unit => followCurrentOwner(unit, code))
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
