import { noticeSentence, type Language, type NoticeSeverity, type NoticeTelling } from '@netlet/contract'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { startOf } from '../../infra/text.ts'
import { pathOf } from './list.ts'
import type { NoticeRow } from './tables.ts'

/** The content of a message, in words and for programs. */
export type Message = {
  telling: NoticeTelling
  severity: NoticeSeverity
  at: Date
  /** Usually one; several of one cause; a digest's; none for a test. */
  notices: readonly NoticeRow[]
  /** How many more there are than `notices` has. */
  more: number
  /** The time zone of its times. */
  timeZone: string
  publicUrl: string
}

const SEVERITY = {
  en: { critical: 'Critical', warning: 'Warning', info: 'Notice' },
  'zh-CN': { critical: '严重', warning: '警告', info: '通知' }
} as const
const PREFIX = {
  en: { opened: '', worse: 'Worse: ', lasts: 'Still: ', ended: 'Ended: ', digest: '', test: '' },
  'zh-CN': { opened: '', worse: '加重：', lasts: '仍在持续：', ended: '已结束：', digest: '', test: '' }
} as const
const OTHER = {
  en: {
    digest: (count: number) => `Digest: ${count === 1 ? '1 notice' : `${count} notices`}`,
    more: (count: number) => `and ${count} more`,
    withMore: (title: string, count: number) => `${title}, and ${count} more`,
    orders: (count: number) => ` (orders: ${count})`,
    test: 'This channel works',
    testText: 'An operator tested this channel under Notices.',
    open: 'open',
    closed: 'ended',
    link: 'Open in the console'
  },
  'zh-CN': {
    digest: (count: number) => `每日摘要：${count} 条通知`,
    more: (count: number) => `另有 ${count} 条`,
    withMore: (title: string, count: number) => `${title}，另有 ${count} 条`,
    orders: (count: number) => `（订单：${count}）`,
    test: '此渠道可用',
    testText: '管理员在“通知”页面测试了此渠道。',
    open: '进行中',
    closed: '已结束',
    link: '在控制台中打开'
  }
} as const

/** The message in one language, as plain text. */
export function worded(message: Message, language: Language) {
  const { telling, notices, more, timeZone, publicUrl } = message
  const other = OTHER[language]
  const [notice] = notices
  const link = other.link
  const isOne = telling !== 'digest' && telling !== 'test' && notices.length + more === 1
  const url = isOne && notice ? publicUrl + pathOf(notice) : `${publicUrl}/dashboard/index/notices`
  if (telling === 'test' || !notice) return { title: other.test, text: other.testText, url, link }
  if (telling === 'digest')
    return { title: other.digest(notices.length + more), text: linesOf(message, language), url, link }
  const { title, text } = noticeSentence(notice.words, notice.params, timeZone)[language]
  const named = `${PREFIX[language][telling]}${title}`
  if (isOne) return { title: named, text, url, link }
  const others = notices.length + more - 1
  return { title: other.withMore(named, others), text: linesOf(message, language), url, link }
}

function linesOf({ notices, more, timeZone }: Message, language: Language): string {
  const other = OTHER[language]
  const lines = notices.map(notice => {
    const { severity, words, params, closedAt } = notice
    const state = other[closedAt ? 'closed' : 'open']
    const { title } = noticeSentence(words, params, timeZone)[language]
    const orders = ordersOf(params) ?? 0
    return `• [${SEVERITY[language][severity]}, ${state}] ${title}${orders > 0 ? other.orders(orders) : ''}`
  })
  return [...lines, ...(more > 0 ? [other.more(more)] : [])].join('\n')
}

/** The orders that a notice affects, if its search counts them. */
export const ordersOf = ({ orders }: NoticeRow['params']): number | undefined =>
  typeof orders === 'number' ? orders : undefined

export const severityWord = (severity: NoticeSeverity, language: Language): string => SEVERITY[language][severity]

const COLOUR = { critical: 0xd92d20, warning: 0xdc6803, info: 0x175cd3 }
const ENDED_COLOUR = 0x079455

/** For the chat platform's incoming webhooks. `allowed_mentions`: names in it mention no users. */
export function chatPayload(message: Message, language: Language): object {
  const { title, text, url } = worded(message, language)
  const { telling, severity } = message
  const isGood = telling === 'ended' || telling === 'test'
  return {
    content: startOf(telling === 'digest' || isGood ? title : `[${severityWord(severity, language)}] ${title}`, 2000),
    embeds: [
      {
        title: startOf(title, 256),
        description: startOf(text, 4000),
        url,
        color: isGood ? ENDED_COLOUR : COLOUR[severity],
        timestamp: iso(message.at)
      }
    ],
    allowed_mentions: { parse: [] }
  }
}

/** JSON for programs. docs/NOTICES.md documents its shape. */
export function webhookPayload(message: Message, language: Language): object {
  const { title, text, url } = worded(message, language)
  return {
    type: `notice.${message.telling}`,
    timestamp: iso(message.at),
    data: {
      severity: message.severity,
      title,
      text,
      url,
      notices: message.notices.map(presentForPrograms),
      more: message.more
    }
  }
}

const presentForPrograms = (notice: NoticeRow) => ({
  id: notice.id,
  cause: notice.cause,
  subject: notice.subject,
  severity: notice.severity,
  count: notice.count,
  since: iso(notice.since),
  ended_at: isoOrNull(notice.closedAt)
})
