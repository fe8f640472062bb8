import { fillIn, type Language, type Params, type Settings } from '@netlet/contract'
import { and, asc, eq, gt, inArray, or } from '../../infra/db/drizzle.ts'
import { DAY, iso } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import type { AskedCommand } from '../../integrations/discord/bot.ts'
import { users } from '../accounts/tables.ts'
import { variants } from '../catalog/tables.ts'
import { renewableUntil, type OrderRow } from '../orders/index.ts'
import { expiry, listed, orders } from '../orders/tables.ts'
import { chatPointsOfDay, pendingCoins } from '../rewards/index.ts'
import { chatTexts, type ChatText } from './texts.ts'

export type ChatAnswer = { content: string; link: { label: string; url: string } | null }

const SHOWN_ORDERS = 10

/** The bound user, if there is one, and texts in the member's language. */
type Asker = { user: BoundUser | undefined; say: (text: ChatText, params?: Params) => string }
type BoundUser = { id: number; username: string; isActive: boolean; coins: number; levelPoints: number }

/** Answers a member's slash command. Only that member sees the answer. */
export async function answerCommand(
  ctx: AppContext,
  settings: Settings,
  { name, userId, locale }: Pick<AskedCommand, 'name' | 'userId' | 'locale'>
): Promise<ChatAnswer> {
  const [user] = await ctx.db
    .select({
      id: users.id,
      username: users.username,
      isActive: users.isActive,
      coins: users.coins,
      levelPoints: users.levelPoints,
      language: users.language
    })
    .from(users)
    .where(eq(users.discordId, userId))
  const say = sayIn(user?.language ?? languageOf(locale))
  if (user && !user.isActive) return { content: say('banned'), link: null }
  if (name === 'bind') return bind(ctx, { user, say })
  if (name !== 'points' && name !== 'proxies') return { content: say('unknownCommand'), link: null }
  if (!user) return bind(ctx, { user, say })
  return name === 'points' ? points(ctx, settings, user, say) : proxies(ctx, user, say)
}

/** A refusal's text that needs no database. */
export const refusalIn = (locale: string, text: 'slowly' | 'failed'): ChatAnswer => ({
  content: sayIn(languageOf(locale))(text),
  link: null
})

const sayIn =
  (language: Language) =>
  (text: ChatText, params: Params = {}) =>
    fillIn(chatTexts[language][text], params)

const languageOf = (locale: string): Language => (locale.startsWith('zh') ? 'zh-CN' : 'en')

/** The page that connects a chat account. It asks for the password. */
export const settingsPage = ({ config }: Pick<AppContext, 'config'>): string =>
  `${config.publicUrl}/dashboard/index/setting`

function bind(ctx: AppContext, { user, say }: Asker): ChatAnswer {
  const content = user ? say('bound', { username: user.username }) : say('unbound')
  return { content, link: { label: say('openSettings'), url: settingsPage(ctx) } }
}

async function points(
  { db, now }: AppContext,
  settings: Settings,
  { id, coins, levelPoints }: BoundUser,
  say: Asker['say']
): Promise<ChatAnswer> {
  const [pending, today] = await Promise.all([pendingCoins(db, id, now()), chatPointsOfDay(db, id, now())])
  const most = settings.discord_bot_max_points_per_day
  return { content: say('points', { coins, pending, level: levelPoints, today, most }), link: null }
}

async function proxies({ db, now, config }: AppContext, { id }: BoundUser, say: Asker['say']): Promise<ChatAnswer> {
  const rows = await db
    .select({ order: orders, renewalDays: variants.proxyTime })
    .from(orders)
    .innerJoin(variants, eq(variants.id, orders.variantId))
    .where(
      and(
        eq(orders.userId, id),
        listed(orders),
        or(
          inArray(orders.state, ['paid', 'delivering', 'partly_delivered', 'delivered', 'failed']),
          and(eq(orders.state, 'expired'), gt(orders.graceUntil, now()))
        )
      )
    )
    .orderBy(asc(expiry(orders)), asc(orders.id))
    .limit(SHOWN_ORDERS + 1)
  const link = { label: say('openOrders'), url: `${config.publicUrl}/dashboard/index/proxies` }
  if (rows.length === 0) return { content: say('noOrders'), link }
  const lines = rows.slice(0, SHOWN_ORDERS).map(({ order, renewalDays }) => {
    const { productName, variantName, deliveryNum: live, quantity } = order
    return say('order', {
      name: productName === variantName ? productName : `${productName}, ${variantName}`,
      live,
      quantity,
      term: termOf(order, renewalDays, now(), say)
    }).slice(0, 160)
  })
  if (rows.length > SHOWN_ORDERS) lines.push(say('more'))
  return { content: [say('orders'), ...lines].join('\n'), link }
}

function termOf(order: OrderRow, renewalDays: number, now: Date, say: Asker['say']): string {
  const { state, expiredAt } = order
  if (state === 'expired') {
    const until = renewableUntil(order, renewalDays, now)
    return until ? say('grace', clock(until)) : say('expired')
  }
  if (state !== 'delivered' && state !== 'partly_delivered') return say('paid')
  if (!expiredAt) return say('noEnd')
  const days = Math.floor((expiredAt.getTime() - now.getTime()) / DAY)
  if (days < 1) return say('lastDay', clock(expiredAt))
  return say('daysLeft', { days, ...clock(expiredAt) })
}

const clock = (at: Date) => ({ date: iso(at).slice(0, 10), time: iso(at).slice(11, 16) })
