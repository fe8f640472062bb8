import { routes } from '@netlet/contract'
import { actorOf } from '../../infra/http/actor.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { whileVisiting } from '../../infra/http/visiting.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { createCoupon, deleteCoupon, listCoupons, updateCoupon } from './coupons.ts'
import { exchangeCoins, listExchangeOptions } from './exchange.ts'
import { createGiftCard, deleteGiftCard, listGiftCards, updateGiftCard } from './gift-cards.ts'
import { createLevelCode, deleteLevelCode, listLevelCodes, updateLevelCode } from './level-codes.ts'
import { listPointRecords } from './point-history.ts'

/** Puts the calls about promo codes, gift cards, levels and points on the server. */
export function rewardsRoutes(mount: Mount, ctx: AppContext): void {
  const { db } = ctx
  const { rewards } = routes

  mount(rewards.coupons, async ({ query, caller }) =>
    ok(await listCoupons(db, caller.isSuperuser ? query : { ...query, holderId: caller.id }))
  )
  mount(rewards.createCoupon, async call => createCoupon(db, actorOf(call), call.body))
  mount(rewards.updateCoupon, async call => updateCoupon(db, actorOf(call), call.params.id, call.body))
  mount(rewards.deleteCoupon, async call => deleteCoupon(db, actorOf(call), call.params.id))

  mount(rewards.giftCards, async ({ query }) => ok(await listGiftCards(db, query)))
  mount(rewards.createGiftCard, async call => createGiftCard(db, actorOf(call), call.body))
  mount(rewards.updateGiftCard, async call => updateGiftCard(db, actorOf(call), call.params.id, call.body))
  mount(rewards.deleteGiftCard, async call => deleteGiftCard(db, actorOf(call), call.params.id))
  mount(rewards.exchangeList, async () => ok(await listExchangeOptions(db)))
  mount(
    rewards.exchange,
    async ({ caller, body }) =>
      whileVisiting(caller) ?? exchangeCoins(db, { userId: caller.id, mount: body.mount, now: ctx.now() })
  )

  mount(rewards.levelCodes, async ({ query, caller }) =>
    ok(await listLevelCodes(db, query, { withCodes: caller.isSuperuser }))
  )
  mount(rewards.createLevelCode, async call => createLevelCode(db, actorOf(call), call.body))
  mount(rewards.updateLevelCode, async call => updateLevelCode(db, actorOf(call), call.params.id, call.body))
  mount(rewards.deleteLevelCode, async call => deleteLevelCode(db, actorOf(call), call.params.id))

  mount(rewards.pointRecords, async ({ query, caller }) =>
    ok(await listPointRecords(db, { userId: caller.id, ...query }))
  )
}
