import { routes } from '@netlet/contract'
import { mayDo } from '../../infra/actor.ts'
import { type Mount, refuseWhileImpersonating } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { rewardChatMessage } from './chat-points.ts'
import { createCoupon, deleteCoupon, updateCoupon, couponList } from './coupons.ts'
import { exchangeCoins, listExchangeOptions } from './exchange.ts'
import { createGiftCard, createGiftCards, deleteGiftCard, updateGiftCard } from './gift-cards.ts'
import { giftCardList } from './list-gift-cards.ts'
import {
  createLevelCode,
  deleteLevelCode,
  discountCodeFor,
  levelCodeList,
  levelDiscount,
  updateLevelCode
} from './level-codes.ts'
import { askPlatform } from './platform-codes.ts'
import { pointRecordList } from './point-history.ts'

export function rewardsRoutes(mount: Mount, ctx: AppContext): void {
  const { db } = ctx
  const { rewards } = routes

  mountList(mount, ctx, rewards.coupons, ({ caller }) => couponList(caller.isSuperuser ? undefined : caller.id))
  mount(rewards.createCoupon, async call => createCoupon(ctx, call.caller, call.body))
  mount(rewards.updateCoupon, async call => updateCoupon(ctx, call.caller, call.params.id, call.body))
  mount(rewards.deleteCoupon, async call => deleteCoupon(ctx, call.caller, call.params.id))

  mountList(mount, ctx, rewards.giftCards, () => giftCardList)
  mount(rewards.createGiftCard, async call => createGiftCard(ctx, call.caller, call.body))
  mount(rewards.createGiftCards, async call => createGiftCards(ctx, call.caller, call.body))
  mount(rewards.updateGiftCard, async call => updateGiftCard(ctx, call.caller, call.params.id, call.body))
  mount(rewards.deleteGiftCard, async call => deleteGiftCard(ctx, call.caller, call.params.id))
  mount(rewards.exchangeList, async () => ok(await listExchangeOptions(db)))
  mount(
    rewards.exchange,
    async ({ caller, body, idempotencyKey }) =>
      refuseWhileImpersonating(caller) ?? exchangeCoins(ctx, caller, body, idempotencyKey)
  )

  mountList(mount, ctx, rewards.levelCodes, ({ caller }) => levelCodeList({ withCodes: mayDo(caller, 'rewards.view') }))
  mount(rewards.levelDiscount, async ({ caller }) => ok(await levelDiscount(db, await discountCodeFor(db, caller.id))))
  mount(rewards.createLevelCode, async call => createLevelCode(ctx, call.caller, call.body))
  mount(rewards.updateLevelCode, async call => updateLevelCode(ctx, call.caller, call.params.id, call.body))
  mount(rewards.deleteLevelCode, async call => deleteLevelCode(ctx, call.caller, call.params.id))

  mount(rewards.codeOnPlatform, async call => askPlatform(ctx, call.caller, call.body))

  mountList(mount, ctx, rewards.pointRecords, ({ caller }) => pointRecordList(caller.id, ctx.now()))

  mountList(mount, ctx, rewards.userPoints, ({ params }) => pointRecordList(params.id, ctx.now()))

  mount(rewards.botWebhook, async ({ caller, body, request }) =>
    rewardChatMessage(ctx, caller, body, {
      rawBody: request.rawBody ?? Buffer.alloc(0),
      signature: request.headers['x-signature']
    })
  )
}
