import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { openPlatform } from '../commerce/index.ts'
import { followWhoeverHas } from '../rewards/index.ts'
import { isOurs } from './look-at-code.ts'

/**
 * Lets a discount of the shop's count no longer, after its code was deleted, got another name, or was said to be used. One
 * that the shop did not make stays as it is. Where another row has the code, before this or meanwhile, the discount
 * follows that one instead.
 * @throws where another try may help
 */
export async function endCode(ctx: AppContext, { code }: { code: string }): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  const isWanted = () => command(ctx, SYSTEM, unit => followWhoeverHas(unit, code))
  if (await isWanted()) return
  const read = await platform.data.discounts([code])
  if (!read.ok) throw new Error(read.message)
  const there = read.value.get(code)
  if (!there || !isOurs(there) || there.basic?.status === 'EXPIRED') return
  const ended = await platform.data.endDiscount(there)
  // Also where the answer was lost: it may have ended all the same.
  await isWanted()
  if (ended.ok) return
  if (ended.reason !== 'rejected') throw new Error(ended.message)
  ctx.log.error({ reason: ended.message }, 'the platform did not end a discount')
}
