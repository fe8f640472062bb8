// Notices that commands raise, because a later search could not find their cause as well.

export type Sentence = { title: string; text: string }
export type Both = { en: Sentence; 'zh-CN': Sentence }

/** A title and a text in each language. */
export const both = (en: [string, string], zh: [string, string]): Both => ({
  en: { title: en[0], text: en[1] },
  'zh-CN': { title: zh[0], text: zh[1] }
})

const IS_REPAIRED =
  'A server whose new program failed runs the previous one again, if it could be started. No more servers are upgraded until an operator continues the upgrade under Server Manage.'
const IS_REPAIRED_ZH =
  '新程序失败的服务器会恢复运行之前的程序（如能启动）。在管理员于“服务器管理”中继续升级之前，不会再升级其他服务器。'

const forwarded = (what: string, zh: string): Both =>
  both(
    [
      'Visitors behind {ip} are refused for 15 minutes',
      `Visitors that {ip} forwards ${what} {count} {count|time|times} within 15 minutes. TRUST_PROXY does not include that proxy, so the shop cannot tell many visitors from one with forged addresses. For now, it refuses all of them.\n\nIf it is your reverse proxy, set TRUST_PROXY={ip}, and make it send the client's address in X-Forwarded-For. Health in the console shows such proxies.`
    ],
    [
      '来自 {ip} 的访客在 15 分钟内被拒绝',
      `15 分钟内，由 {ip} 转发的访客${zh} {count} 次。TRUST_PROXY 中没有该代理，因此本店无法区分这是许多访客，还是一个伪造地址的访客，目前一律拒绝。\n\n如果它是您的反向代理，请设置 TRUST_PROXY={ip}，并让它把客户端地址写入 X-Forwarded-For。控制台的“运行状况”会显示此类代理。`
    ]
  )

const PAYMENT =
  'The platform reported a payment that needs a decision: {reason}.\n\nPlatform order: {order}.\n\nDecide on it under Payments.'
const PAYMENT_ZH = '平台报告了一笔需要处理的付款：{reason}。\n\n平台订单：{order}。\n\n请在“付款”中处理。'
const payment = (en: string, zh: string): Both =>
  both(['Payment for platform order {order} needs your attention', en], ['平台订单 {order} 的付款需要处理', zh])

const webhookOff = (why: string, zh: string): Both =>
  both(
    [
      'The webhook endpoint at {host} was turned off',
      `${why}\n\nThe shop no longer sends events there. The log under Webhooks shows the responses. When the endpoint works again, turn it on there and resend missed events.`
    ],
    [
      '{host} 的 Webhook 端点已停用',
      `${zh}\n\n本店不再向其发送事件。“Webhook”中的日志显示了返回内容。端点恢复后，请在那里重新启用并重新发送错过的事件。`
    ]
  )

const rangesRefused = (what: string, zh: string): Both =>
  both(
    [
      'Server {server} refuses its ranges',
      `The agent of server {server} ({ip}) refused ${what}: {message}\n\nThe shop does not sell these ranges, and orders that need them wait. Other ranges work. The shop retries every minute. Repair the server, or remove the ranges from it.`
    ],
    [
      '服务器 {server} 拒绝了其地址段',
      `服务器 {server}（{ip}）的代理程序没有接受 ${zh}：{message}\n\n这些地址段不会出售，需要它们的订单会等待。其他地址段正常工作。系统每分钟重试一次。请修复服务器，或从中移除这些地址段。`
    ]
  )

const foreignWebhooks = (whatNow: string, zh: string): Both =>
  both(
    [
      'Another installation uses the same platform keys',
      `The platform also sends its webhooks to {origins}, which is not this shop's address ({url}).\n\n${whatNow}`
    ],
    ['另一个安装使用了相同的平台密钥', `平台还会将 Webhook 发送到 {origins}，这不是本店的地址（{url}）。\n\n${zh}`]
  )

export const RAISED_WORDS = {
  order_refused: both(
    [
      'A server refuses proxies of order {order}',
      'An agent refused the proxies of order {order}: {message}.\n\nTo try again, open the order under Orders and press Deliver.'
    ],
    [
      '服务器拒绝了订单 {order} 的代理',
      '代理程序拒绝了订单 {order} 的代理：{message}。\n\n如需重试，请在“订单”中打开该订单并点击“交付”。'
    ]
  ),
  orders_lost: both(
    [
      'Orders lost addresses with server {server}',
      'Server {server} was given up, and some of its orders have too few other addresses in their groups.\n\nThey keep their working addresses, show how many are missing, and get others when there is room. Add servers to their groups, move these orders to another group, or refund them.'
    ],
    [
      '部分订单随服务器 {server} 失去了地址',
      '服务器 {server} 已被放弃，其部分订单所在的服务器组没有足够的其他地址。\n\n这些订单保留可用的地址，显示缺少的数量，并在有空余时获得其他地址。请为其服务器组添加服务器、将订单移到其他组，或退款。'
    ]
  ),
  order_waits: both(
    [
      'Order {order} is waiting for server {server}',
      '{count} {count|address|addresses} of order {order} {count|is|are} on server {server}, which does not respond, accepts no changes or refuses the range. Its group has too few other addresses.\n\nThe shop retries every minute. Add addresses to the group, repair the server, or move the order to another group.'
    ],
    [
      '订单 {order} 正在等待服务器 {server}',
      '订单 {order} 的 {count} 个地址位于服务器 {server}，该服务器无响应、不接受更改或拒绝其地址段，且该组没有足够的其他地址。\n\n系统每分钟重试一次。请为该组添加地址、修复服务器，或将订单移到其他组。'
    ]
  ),
  inventory: both(
    [
      'The stock data is inconsistent',
      'The nightly check found {leased} {leased|address|addresses} leased twice under one access rule. {differences} derived {differences|row does|rows do} not match the leases.\n\nPause the affected servers until you know the cause. docs/INVENTORY.md describes how to check.'
    ],
    [
      '库存数据不一致',
      '每晚的核对发现有 {leased} 个地址在同一访问规则下被租出两次，另有 {differences} 条派生数据与租用记录不符。\n\n在查明原因之前，请暂停相关服务器。docs/INVENTORY.md 说明了如何检查。'
    ]
  ),
  payment: payment(PAYMENT, PAYMENT_ZH),
  payments: payment(
    `${PAYMENT} Further payments of this kind by the same customer within 1 hour are listed there without another email.`,
    `${PAYMENT_ZH}同一客户一小时内的同类付款会列在那里，不再另行通知。`
  ),
  payment_unreadable: both(
    [
      'Payment event {event} needs your attention',
      'The shop could not process a payment event from the platform: {reason}\n\nEvent: {event}.\n\nDecide on it under Payments.'
    ],
    ['付款事件 {event} 需要处理', '本店无法处理平台的付款事件：{reason}\n\n事件：{event}。\n\n请在“付款”中处理。']
  ),
  foreign_webhooks: foreignWebhooks(
    "This shop's own webhooks work, and the others were not changed. Give each installation its own keys, or take over the webhooks under Health in the console.",
    '本店自己的 Webhook 有效，其他的未作改动。请为每个安装使用各自的密钥，或在控制台的“运行状况”中接管这些 Webhook。'
  ),
  foreign_webhooks_only: foreignWebhooks(
    'This shop has no webhooks, so it learns about payments late. If the other installation is no longer used, take over its webhooks under Health in the console. Otherwise, give one of them its own keys.',
    '本店没有注册任何 Webhook，因此无法立即得知付款。如果另一个安装已停用，请打开控制台的“运行状况”并接管其 Webhook；否则请为其中一个使用各自的密钥。'
  ),
  dispute: both(
    [
      'Payment {payment} is disputed',
      'The buyer’s bank took back {money} of payment {payment} (order {order}).\n\nRespond to the dispute on the platform before the bank’s deadline.'
    ],
    [
      '付款 {payment} 发生争议',
      '买家的银行从付款 {payment}（订单 {order}）中收回了 {money}。\n\n请在银行规定的期限前，在平台上回应争议。'
    ]
  ),
  bought_code: both(
    [
      'A code that {user} bought with coins does not work',
      '{user} spent {coins} {coins|coin|coins} on a code of {amount}. The platform refused it, or has another discount with the same code.\n\nPromo codes shows the reason. Fix it and create the code on the platform, or delete the code and return the coins.'
    ],
    [
      '{user} 用金币兑换的优惠码无法使用',
      '{user} 花费 {coins} 枚金币兑换了面额 {amount} 的优惠码，但平台拒绝了该优惠码，或平台上已有另一个同名折扣。\n\n“优惠码”中会显示原因。请排除原因后在平台上创建，或删除该优惠码并退还金币。'
    ]
  ),
  webhook_gone: webhookOff(
    'It answered 410 (Gone), which means that it accepts no more events.',
    '它返回 410（Gone），表示不再接收事件。'
  ),
  webhook_failing: webhookOff('Every attempt has failed since {since}.', '自 {since} 起每次尝试都失败。'),
  security_events: both(
    [
      'Failed logins or refused calls in the console',
      '{count} logins, second factors or calls were refused within 1 hour, the last one for {user}. Someone may be guessing a password, or trying something that their role does not allow.\n\nThe audit log shows them with the filter Kind: Security.'
    ],
    [
      '控制台出现多次登录失败或被拒绝的操作',
      '一小时内有 {count} 次登录、双重验证或操作被拒绝，最近一次涉及 {user}。可能有人在猜测密码，或尝试其角色不允许的操作。\n\n在审计日志中按“类别：安全”筛选即可查看。'
    ]
  ),
  forwarded_code: forwarded('requested codes', '请求验证码'),
  forwarded_ticket: forwarded('sent tickets', '提交工单'),
  forwarded_status: forwarded('requested incident emails', '订阅事件邮件'),
  ranges_refused: rangesRefused('{ranges}', '{ranges}'),
  range_change_refused: rangesRefused('a change to its ranges', '地址段的变更'),
  changes_failing: both(
    [
      'Server {server} accepts no changes',
      'The agent on server {server} ({ip}) passes its health check, but has accepted no changes since {since}.\n\n{message}\n\nIts current proxies keep working. It sells nothing until a change succeeds, and new orders get addresses on other servers.'
    ],
    [
      '服务器 {server} 不接受更改',
      '服务器 {server}（{ip}）的代理程序通过了健康检查，但自 {since} 起没有接受任何更改。\n\n{message}\n\n现有代理不受影响。在更改成功之前，该服务器不会销售，新订单会使用其他服务器的地址。'
    ]
  ),
  upgrade_failed: both(
    ['The server upgrade to {version} stopped', `It failed on {servers}: {message}\n\n${IS_REPAIRED}`],
    ['服务器升级到 {version} 已停止', `在 {servers} 上失败：{message}\n\n${IS_REPAIRED_ZH}`]
  ),
  upgrade_stopped: both(
    ['The server upgrade to {version} stopped', `{message}\n\n${IS_REPAIRED}`],
    ['服务器升级到 {version} 已停止', `{message}\n\n${IS_REPAIRED_ZH}`]
  ),
  repair_waits: both(
    [
      'Server {server}: a repair needs your approval',
      'The agent of server {server} ({ip}) has data that this console does not know. This happens after a database restore, or if a copy of the console runs elsewhere.\n\nThe console sends nothing to it. A repair would remove {removed} {removed|user|users}, change {changed} and remove {ranges} {ranges|range|ranges}. Check the list under Server Manage, and approve it if it is correct.'
    ],
    [
      '服务器 {server}：修复等待您的批准',
      '服务器 {server}（{ip}）的代理程序有本控制台不知道的数据。数据库从备份恢复后，或控制台的副本在别处运行时，会出现这种情况。\n\n控制台不会向其发送任何内容。修复将移除 {removed} 个用户、更改 {changed} 个，并移除 {ranges} 个地址段。请在“服务器管理”中查看列表，确认无误后批准。'
    ]
  ),
  removals_wait: both(
    [
      'Server {server}: {count} {count|removal needs|removals need} your approval',
      'The agent of server {server} ({ip}) has {users} {users|user|users}, and the console does not know {count} of them.\n\nThat is too many to remove automatically. Check the server under Server Manage, and approve the removal if it is correct.'
    ],
    [
      '服务器 {server}：{count} 个用户的移除需要您批准',
      '服务器 {server}（{ip}）的代理程序有 {users} 个用户，其中 {count} 个不为控制台所知。\n\n数量过多，不会自动移除。请在“服务器管理”中检查该服务器，确认无误后批准移除。'
    ]
  )
} as const satisfies Record<string, Both>
