import type { CodeState, GiftCard } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { iso } from '../../infra/clock.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { versionOf } from '../../infra/version.ts'
import { presentPlatformState } from './platform-codes.ts'
import { giftCards } from './tables.ts'

type Query = ListInput<'id' | 'mount' | 'point'> & {
  is_exchanged?: '0' | '1' | undefined
  platform_state?: CodeState | undefined
}

/** Gift cards, by code. */
export const giftCardList = defineList<Query, GiftCard>({
  name: 'gift_cards',
  table: giftCards,
  id: giftCards.id,
  sort: { id: giftCards.id, mount: giftCards.mount, point: giftCards.point },
  match: (_db, { search, is_exchanged, platform_state }) => ({
    where: [
      is_exchanged === undefined ? undefined : eq(giftCards.isExchanged, is_exchanged === '1'),
      platform_state && eq(giftCards.platformState, platform_state)
    ],
    text: search ? { in: giftCards.code, term: search } : undefined
  }),
  load: async (db, ids) => (await db.select().from(giftCards).where(among(giftCards.id, ids))).map(presentGiftCard)
})

export const giftCardFields = ({ mount, code, point }: Pick<GiftCard, 'mount' | 'code' | 'point'>) => ({
  mount,
  code,
  point
})

export const presentGiftCard = (row: typeof giftCards.$inferSelect): GiftCard => ({
  id: row.id,
  mount: row.mount,
  point: row.point,
  code: row.code,
  is_exchanged: row.isExchanged,
  created_at: iso(row.createdAt),
  ...presentPlatformState(row),
  version: versionOf(giftCardFields(row))
})
