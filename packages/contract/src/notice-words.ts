// The sentences of notices in both languages, shared by mails, chat messages and the console.
import { fillIn, type Params } from './fill-in.ts'
import { both, RAISED_WORDS, type Both, type Sentence } from './raised-notice-words.ts'

const WORDS = {
  ...RAISED_WORDS,
  server_down: both(
    [
      'Server {server} does not respond',
      'The agent on server {server} ({ip}) has not responded since {since}. Last error: {message}\n\nOrders that need it wait until it is back. The shop checks it every minute.'
    ],
    [
      '服务器 {server} 无响应',
      '服务器 {server}（{ip}）的代理程序自 {since} 起没有响应。最后的错误：{message}\n\n需要它的订单会等到它恢复。系统每分钟检查一次。'
    ]
  ),
  server_trouble: both(
    ['Server {server} needs attention', 'Server {server} ({ip}) responds, but has a problem: {message}'],
    ['服务器 {server} 需要处理', '服务器 {server}（{ip}）有响应，但存在问题：{message}']
  ),
  undelivered: both(
    [
      'Paid but not delivered: {count}',
      '{count} {count|order was|orders were} paid more than {minutes} {minutes|minute|minutes} ago but {count|has|have} no proxies yet. The {count|order|oldest} was paid {since}.'
    ],
    [
      '已付款但未交付：{count}',
      '{count} 个订单付款已超过 {minutes} 分钟，但尚未交付任何代理。最早的付款时间是 {since}。'
    ]
  ),
  late_events: both(
    [
      'Unprocessed platform events: {count}',
      'Payments, refunds or product changes from the platform have been waiting for more than 1 hour, since {since}. The shop cannot process them because of a database problem: {reason}\n\nThe shop processes them automatically once the database works. Check the workers’ log, and that all processes run the same version.'
    ],
    [
      '{count} 个平台事件等待处理',
      '来自平台的付款、退款或产品变更自 {since} 起已等待超过 1 小时。数据库故障使本店无法处理：{reason}\n\n数据库恢复后会自动处理。请查看工作进程的日志，并确认所有进程运行的是同一版本。'
    ]
  ),
  webhooks: both(
    [
      'Platform webhooks do not arrive',
      'In the last 24 hours, {count} {count|payment|payments} arrived without a webhook. The shop found {count|it|them} on the platform, so delivery was a few minutes late.\n\nCheck that {url} can be reached from the internet, and that the API secret under Web Settings is the app’s.'
    ],
    [
      '平台的 Webhook 没有送达',
      '过去 24 小时内有 {count} 笔付款没有 Webhook 通知。本店主动查询平台后才发现，因此交付晚了几分钟。\n\n请确认 {url} 可从互联网访问，且“网站设置”中的 API 密钥与应用一致。'
    ]
  ),
  dead_letter: both(
    [
      'Failed jobs in {queue}: {count}',
      '{count} {count|job|jobs} in the queue {queue} used all {count|its|their} attempts. Check, retry or discard {count|it|them} under Tasks, Failed jobs.'
    ],
    [
      '{queue} 的任务最终失败：{count}',
      '队列 {queue} 的 {count} 个任务已用完全部重试次数。请在“任务”的“失败任务”中查看、重试或丢弃。'
    ]
  ),
  mails: both(
    [
      'Failed emails: {count}',
      '{count} {count|email|emails} could not be delivered. The email log shows the reasons, and you can resend {count|it|them} there.'
    ],
    ['无法发送的邮件：{count}', '{count} 封邮件未能送达。邮件记录中有原因，您也可以在那里重新发送。']
  ),
  mails_wait: both(
    [
      'Emails waiting for the email service: {count}',
      '{count} {count|email is|emails are} waiting, the oldest since {since}, and none was sent in the last 15 minutes. Reason: {reason}\n\nThe shop sends them once the email service accepts them. They fail permanently after about 24 hours. To check the service, send a test email under Web Settings.'
    ],
    [
      '等待邮件服务的邮件：{count}',
      '有 {count} 封邮件等待发送，最早的自 {since} 起等待，最近 15 分钟内没有任何邮件发出。原因：{reason}\n\n邮件服务恢复后会自动发送；约 24 小时后仍未发出则视为失败。您可以在“网站设置”中发送测试邮件来检查该服务。'
    ]
  ),
  proofs: both(
    [
      'Servers with proxy mismatches: {count}',
      'Credential checks failed: old credentials still work, or new ones do not. Servers and failed checks: {servers}.\n\nHealth lists the checks. If many fail at once, first check the network to the servers, and the check site.\n\nThe console repairs the servers and checks them again. It does not sell addresses with working old credentials. If a repair does not help, the agent may be broken or compromised: reinstall it, or give up the server.'
    ],
    [
      '代理状态不符的服务器：{count}',
      '凭据检测失败：旧凭据仍然有效，或新凭据不可用。服务器及失败次数：{servers}。\n\n“运行状况”列出了各项检测。如果同时有多项失败，请先检查控制台到服务器的网络以及检测网站。\n\n控制台会修复服务器并重新检测。旧凭据仍有效的地址不会出售。如果修复无效，代理程序可能已损坏或被入侵：请重新安装，或放弃该服务器。'
    ]
  ),
  certificate: both(
    [
      'The certificate of server {server} expires soon',
      'The agent certificate of server {server} ({ip}) expires {ends}. After that, the console cannot reach the agent. Install a new certificate, and save it under Server Manage.'
    ],
    [
      '服务器 {server} 的证书即将到期',
      '服务器 {server}（{ip}）代理程序的证书将于 {ends} 到期。到期后将无法连接代理程序：请安装新证书并在“服务器管理”中保存。'
    ]
  ),
  certificate_api: both(
    [
      'The certificate of server {server} expires soon',
      'The certificate that the agent of server {server} ({ip}) shows to the console expires {ends}. After that, the console cannot reach the agent. Replace the files of AGENT_TLS_CERT and AGENT_TLS_KEY, and restart the agent.'
    ],
    [
      '服务器 {server} 的证书即将到期',
      '服务器 {server}（{ip}）代理程序向控制台出示的证书将于 {ends} 到期。到期后将无法连接代理程序：请更换 AGENT_TLS_CERT 和 AGENT_TLS_KEY 指向的文件，并重启代理程序。'
    ]
  ),
  certificate_proxy: both(
    [
      'The proxy certificate of server {server} expires soon',
      'The certificate for https:// proxies on server {server} ({ip}) expires {ends}. After that, clients refuse the connection. Save a new one under Server Manage, TLS for proxies. Or replace the files on the server; the agent reloads them automatically.'
    ],
    [
      '服务器 {server} 的代理证书即将到期',
      '服务器 {server}（{ip}）上 https:// 代理向客户端出示的证书将于 {ends} 到期。到期后客户端会拒绝连接：请在服务器管理的“代理的 TLS”中保存新证书，或替换服务器上的文件，代理程序会自动重新读取。'
    ]
  ),
  certificate_public: both(
    [
      'The shop’s certificate expires soon',
      'The certificate of {url} expires {ends}. After that, browsers warn visitors, and the platform cannot deliver webhooks. Renew it where TLS ends, such as on the reverse proxy.'
    ],
    [
      '本店的证书即将到期',
      '{url} 向访客出示的证书将于 {ends} 到期。到期后浏览器会发出警告，平台的 Webhook 也无法送达：请在终止 TLS 的位置（例如反向代理）更新证书。'
    ]
  ),
  token: both(
    [
      '{service} refuses the token',
      '{service} refuses the token, or the shop cannot read it: {message}\n\nEnter a new token in the console.'
    ],
    ['{service} 的令牌不被接受', '{service} 拒绝了所用的令牌，或令牌无法读取：{message}\n\n请在控制台中输入新的令牌。']
  ),
  token_ending: both(
    [
      'The platform’s access token expires {ends}',
      'The platform’s access token expires {ends}, and the shop has no new one yet. The platform’s answer: {message}\n\nWithout a token, codes, tags, refunds and prices wait. The shop retries every few minutes. If this continues, check the app on the platform, and that a worker is running.'
    ],
    [
      '平台访问令牌将于 {ends} 到期',
      '平台的访问令牌将于 {ends} 到期，但本店尚未取得新令牌。平台的答复：{message}\n\n没有令牌时，优惠码、标签、退款和价格都将等待。本店每隔几分钟会重新请求。如果情况没有变化，请检查平台中的应用，并确认工作进程正在运行。'
    ]
  ),
  token_ended: both(
    [
      'The platform issues no access token',
      'The shop has no valid access token for the platform and cannot get one: {message}\n\nCodes, tags, refunds and prices wait until it does. The shop retries every few minutes. The last token expired: {ends}.'
    ],
    [
      '平台未发放访问令牌',
      '本店没有有效的平台访问令牌，也无法取得新令牌：{message}\n\n在取得令牌之前，优惠码、标签、退款和价格都将等待。本店每隔几分钟会重新请求。上一个令牌的到期时间：{ends}。'
    ]
  ),
  stock: both(
    [
      'Low stock: {group}, {rule}',
      'Group {group} has {left} {left|address|addresses} left to sell under {rule}. The threshold is {below}. Add ranges or servers to the group.'
    ],
    [
      '地址不足：{group}，{rule}',
      '服务器组 {group} 在规则 {rule} 下仅剩 {left} 个可售地址（低于 {below} 时通知）。请为该组添加地址段或服务器。'
    ]
  ),
  upgrade: both(
    [
      'The server upgrade to {version} stopped',
      '{message}\n\nNo more servers are upgraded until an operator continues the upgrade under Server Manage.'
    ],
    ['服务器升级到 {version} 已停止', '{message}\n\n在管理员于“服务器管理”中继续升级之前，不会再升级其他服务器。']
  ),
  abuse: both(
    [
      'Signs of abuse: {count}',
      'Agents reported {count} {count|sign|signs} of abuse that {count|is|are} not acknowledged yet.'
    ],
    ['滥用迹象：{count}', '代理程序报告了 {count} 个尚未确认的滥用迹象。']
  ),
  prices: both(
    [
      'Price mismatches: {count}',
      '{count} {count|price differs|prices differ} between the shop and the platform. Customers pay the platform’s price.'
    ],
    ['价格不一致：{count}', '{count} 个价格与平台不同。客户实际支付的是平台价格。']
  ),
  tickets: both(
    ['Open tickets: {count}', '{count} {count|ticket is|tickets are} waiting for a reply.'],
    ['未回复的工单：{count}', '{count} 个工单等待回复。']
  )
} as const satisfies Record<string, Both>

export type NoticeWords = keyof typeof WORDS
export const NOTICE_WORDS = Object.keys(WORDS) as NoticeWords[]

/**
 * A notice's sentence, with times in the time zone, and with the reason in Chinese if `reason_zh` has it. An unknown
 * sentence, from a newer version that runs in parallel, yields its name.
 */
export function noticeSentence(words: NoticeWords, params: Params, timeZone = 'UTC'): Both {
  const found: Both = (WORDS as Record<string, Both>)[words] ?? both([words, ''], [words, ''])
  const fill = (language: keyof Both): Sentence => {
    const { title, text } = found[language]
    const { reason_zh: reason } = params
    const said = language === 'zh-CN' && reason !== undefined ? { ...params, reason } : params
    const say = (sentence: string) => withTimes(fillIn(sentence, said), language, timeZone)
    return { title: say(title), text: say(text) }
  }
  return { en: fill('en'), 'zh-CN': fill('zh-CN') }
}

/** '2026-11-21T10:00:00.000Z' as 'Nov 21, 2026, 11:00 GMT+1'. */
function withTimes(text: string, language: keyof Both, timeZone: string): string {
  return text.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, found => {
    const at = new Date(found)
    if (Number.isNaN(at.getTime())) return found
    return new Intl.DateTimeFormat(language, {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone,
      timeZoneName: 'short'
    }).format(at)
  })
}

export type NoticeLanguage = keyof Both
