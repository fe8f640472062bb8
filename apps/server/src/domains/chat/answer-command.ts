import { type Language, type Params, type Settings, fillIn } from '@netlet/contract'
import { DAY, iso } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import { and, asc, eq, gt, inArray, or } from '../../infra/db/drizzle.ts'
import type { AskedCommand } from '../../integrations/discord/bot.ts'
import { users } from '../accounts/tables.ts'
import { variants } from '../catalog/tables.ts'
import { type OrderRow, renewableUntil } from '../orders/index.ts'
import { expiry, listed, orders } from '../orders/tables.ts'
import { chatPointsOfDay, pendingCoins } from '../rewards/index.ts'

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
  if (state === 'failed') return say('undelivered')
  if (state !== 'delivered' && state !== 'partly_delivered') return say('paid')
  if (!expiredAt) return say('noEnd')
  const days = Math.floor((expiredAt.getTime() - now.getTime()) / DAY)
  if (days < 1) return say('lastDay', clock(expiredAt))
  return say('daysLeft', { days, ...clock(expiredAt) })
}

const clock = (at: Date) => ({ date: iso(at).slice(0, 10), time: iso(at).slice(11, 16) })

/** The bot's texts, in the shop's languages. */
const english = {
  points: 'Coins: {coins}\nOf these, on hold: {pending}\nLevel points: {level}\nFrom messages today: {today} of {most}',
  noOrders: 'You have no orders with proxies.',
  orders: 'Your orders:',
  order: '• {name} · {live} of {quantity} {quantity|proxy|proxies} · {term}',
  more: 'You have more orders. See all of them in the shop.',
  paid: 'being delivered',
  undelivered: 'not delivered; contact us',
  daysLeft: '{days} {days|day|days} left (until {date} UTC)',
  lastDay: 'ends today (until {date} {time} UTC)',
  noEnd: 'no expiry',
  grace: 'expired; renew by {date} {time} UTC to keep its proxies',
  expired: 'expired',
  openOrders: 'My orders',
  bound:
    'This chat account is connected to {username} in the shop. To connect another one, open your account settings.',
  unbound:
    'This chat account is not connected to a shop account yet. Log in to the shop and connect it in your account settings.',
  openSettings: 'Connect account',
  banned: 'This account has been banned',
  slowly: 'Too many requests. Please wait a moment and try again.',
  failed: 'Something went wrong on our side. Please try again.',
  unknownCommand: 'This command no longer exists.'
}
type ChatText = keyof typeof english

const chinese: Record<ChatText, string> = {
  points: '金币：{coins}\n其中暂不可用：{pending}\n等级积分：{level}\n今日消息所得：{today} / {most}',
  noOrders: '您没有带代理的订单。',
  orders: '您的订单：',
  order: '• {name} · {live} / {quantity} 个代理 · {term}',
  more: '您还有更多订单，请在本店查看。',
  paid: '正在交付',
  undelivered: '未能交付，请联系我们',
  daysLeft: '剩余 {days} 天（至 {date} UTC）',
  lastDay: '今天到期（至 {date} {time} UTC）',
  noEnd: '无到期日',
  grace: '已到期；在 {date} {time} UTC 前续费可保留代理',
  expired: '已到期',
  openOrders: '我的订单',
  bound: '此聊天账户已绑定本店用户 {username}。如需绑定其他账户，请打开账户设置。',
  unbound: '此聊天账户尚未绑定本店账户。请登录本店，在账户设置中绑定。',
  openSettings: '绑定账户',
  banned: '该账户已被封禁',
  slowly: '请求过多，请稍后重试。',
  failed: '我们的服务出错，请重试。',
  unknownCommand: '此命令已不存在。'
}

const chatTexts: Record<Language, Record<ChatText, string>> = { en: english, 'zh-CN': chinese }

/** In both languages, because a channel's members read either. */
export const howToBind = (link: string): string =>
  `Your messages here earn coins once your account is connected: log in to the shop and connect it under ${link}\n绑定账户后，在此发言可获得金币：请登录本店，并在上述页面绑定您的聊天账户。`

/** The slash commands to register. */
export const COMMANDS = [
  {
    name: 'points',
    description: 'Your coins and level points in the shop',
    descriptionZh: '您在本店的金币与等级积分'
  },
  { name: 'proxies', description: 'Your orders and the days left', descriptionZh: '您的订单与剩余天数' },
  {
    name: 'bind',
    description: 'Connect this chat account to your account in the shop',
    descriptionZh: '将此聊天账户绑定到您在本店的账户'
  }
] as const
