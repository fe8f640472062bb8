import type { Language } from '@netlet/contract'

/** The bot's texts, in the shop's languages. */
const english = {
  points:
    'Coins: {coins}\nOf them not yet to be spent: {pending}\nLevel points: {level}\nFrom messages today: {today} of {most}',
  noOrders: 'You have no orders with proxies.',
  orders: 'Your orders:',
  order: '• {name} · {live} of {quantity} {quantity|proxy|proxies} · {term}',
  more: 'There are more; the shop lists all of them.',
  paid: 'being delivered',
  daysLeft: '{days} {days|day|days} left (until {date} UTC)',
  lastDay: 'ends today (until {date} {time} UTC)',
  noEnd: 'without an end',
  grace: 'expired; renew it until {date} {time} UTC to keep its proxies',
  expired: 'expired',
  openOrders: 'My orders',
  bound:
    'This chat account belongs to {username} in the shop. To connect another one, open the settings of your account.',
  unbound:
    'This chat account belongs to nobody in the shop yet. Log in to the shop and connect it in the settings of your account.',
  openSettings: 'Connect the account',
  banned: 'This account has been banned',
  slowly: 'Too many requests. Please wait a moment and try again.',
  failed: 'Something went wrong on our side. Please try again.',
  unknownCommand: 'This command does not exist any more.'
}
export type ChatText = keyof typeof english

const chinese: Record<ChatText, string> = {
  points: '金币：{coins}\n其中暂不可用：{pending}\n等级积分：{level}\n今日消息所得：{today} / {most}',
  noOrders: '您没有带代理的订单。',
  orders: '您的订单：',
  order: '• {name} · {live} / {quantity} 个代理 · {term}',
  more: '还有更多订单，请在商店中查看。',
  paid: '正在交付',
  daysLeft: '剩余 {days} 天（至 {date} UTC）',
  lastDay: '今天到期（至 {date} {time} UTC）',
  noEnd: '无到期日',
  grace: '已到期；在 {date} {time} UTC 前续费可保留代理',
  expired: '已到期',
  openOrders: '我的订单',
  bound: '此聊天账户已绑定商店用户 {username}。如需绑定其他账户，请打开账户设置。',
  unbound: '此聊天账户尚未绑定商店用户。请登录商店，在账户设置中绑定。',
  openSettings: '绑定账户',
  banned: '该账户已被封禁',
  slowly: '请求过于频繁，请稍候',
  failed: '我们这边出了点问题，请重试。',
  unknownCommand: '此命令已不存在。'
}

export const chatTexts: Record<Language, Record<ChatText, string>> = { en: english, 'zh-CN': chinese }

/** In both languages, because a channel's members read either. */
export const howToBind = (link: string): string =>
  `Your messages here earn coins once your account is connected: log in to the shop and connect it under ${link}\n在此发言可获得金币：请登录商店并绑定您的聊天账户。`

/** The slash commands to register. */
export const COMMANDS = [
  {
    name: 'points',
    description: 'Your coins and level points in the shop',
    descriptionZh: '您在商店的金币与等级积分'
  },
  { name: 'proxies', description: 'Your orders and the days left', descriptionZh: '您的订单与剩余天数' },
  {
    name: 'bind',
    description: 'Connect this chat account with your account in the shop',
    descriptionZh: '将此聊天账户绑定到您的商店账户'
  }
] as const
