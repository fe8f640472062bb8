import type { AddressLease } from '@netlet/contract'

type Question = { address: string; at: Date; held: AddressLease[] }
type Term = Pick<AddressLease, 'order' | 'acls' | 'active_from' | 'stopped_at'>

/**
 * Answers to an abuse complaint, by language. They name the order but no customer: only those with a right to know may
 * ask for the name. They leave out orders that were never paid and orders after their end, because their addresses were
 * only held.
 */
export function abuseReplies({ address, at, held }: Question): { en: string; 'zh-CN': string } {
  const used = held.filter(term => isUsed(term, at))
  const time = utc(at.toISOString())
  return {
    en: [
      'Hello,',
      `thank you for your report about the address ${address}.`,
      ...(used.length === 0
        ? [`At ${time} this address was not leased to any customer of ours.`]
        : [
            used.length === 1
              ? `At ${time} this address was leased to one customer of ours:`
              : `At ${time} this address was leased under ${used.length} orders, each for other sites:`,
            used.map(term => englishLine(term, used.length > 1)).join('\n'),
            'Please give this reference in further messages. We name a customer only to authorities that are entitled to it.'
          ]),
      'Kind regards'
    ].join('\n\n'),
    'zh-CN': [
      '您好：',
      `感谢您就 IP 地址 ${address} 提交的举报。`,
      ...(used.length === 0
        ? [`在 ${time}，该地址未租给我们的任何客户。`]
        : [
            used.length === 1
              ? `在 ${time}，该地址租给了我们的一位客户：`
              : `在 ${time}，该地址同时由 ${used.length} 个订单租用，分别用于不同的网站：`,
            used.map(term => chineseLine(term, used.length > 1)).join('\n'),
            '后续联系时请注明该编号。我们仅向有权查询的主管机关提供客户身份信息。'
          ]),
      '此致'
    ].join('\n\n')
  }
}

/** Did the proxies of this lease work at `at`? */
const isUsed = ({ active_from, stopped_at }: Term, at: Date): boolean =>
  active_from !== null && new Date(active_from) <= at && (stopped_at === null || new Date(stopped_at) > at)

function englishLine({ order, acls, active_from, stopped_at }: Term, several: boolean): string {
  const sites = several ? `, sites: ${namesOf(acls)}` : ''
  return `- Reference ${order}${sites}: from ${utc(active_from)} ${stopped_at ? `until ${utc(stopped_at)}` : 'until now'}`
}

function chineseLine({ order, acls, active_from, stopped_at }: Term, several: boolean): string {
  const sites = several ? `，网站：${namesOf(acls)}` : ''
  return `- 编号 ${order}${sites}：${utc(active_from)} 至 ${stopped_at ? utc(stopped_at) : '今'}`
}

const namesOf = (acls: AddressLease['acls']) => acls.map(({ name }) => name).join(', ')

/** Format: '2026-03-01 12:00:00 UTC'. */
const utc = (time: string | null) => (time ? `${time.slice(0, 19).replace('T', ' ')} UTC` : '')
