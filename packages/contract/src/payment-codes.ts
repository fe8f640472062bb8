/** What can come of an event of the platform about money. */
export const MONEY_OUTCOMES = [
  'settled',
  'duplicate',
  'unknown_order',
  'lines_missing',
  'purchase_not_sold',
  'wrong_currency',
  'test_payment',
  'cancelled',
  'not_paid',
  'paid_back',
  'too_late',
  'paid_twice',
  'renewal_too_late',
  'renewal_lines_missing',
  'renewal_not_sold',
  'refunded',
  'renewals_unserved',
  'partly_refunded',
  'cancelled_delivered',
  'refund_kept',
  'inquiry',
  'dispute_won',
  'restored',
  'refund_failed',
  'refund_doubtful',
  'unreadable',
  'underpaid',
  'renewal_underpaid',
  'ignored'
] as const

/** What can come of any event of the platform, those about products too. */
export const EVENT_OUTCOMES = [...MONEY_OUTCOMES, 'applied', 'withdrawn', 'not_sold', 'older'] as const
export type EventOutcome = (typeof EVENT_OUTCOMES)[number]

/** Outcomes that an administrator has to look at, in words: `fillIn` puts the parameters in. */
export const ATTENTION = {
  unknown_order: 'no order of ours is named (order_id {order_id})',
  underpaid: 'order {order_id}: paid {paid} of {due}',
  lines_missing: 'order {order_id} was paid for less than was ordered: {missing}',
  purchase_not_sold:
    'order {order_id} was paid late, when this was not sold any more: {what}; deliver it all the same, or refund {platform_order}',
  wrong_currency: 'order {order_id} was paid in {currency}, not in {expected}',
  test_payment: 'order {order_id} was paid by a test payment: no money was taken',
  cancelled:
    'payment {platform_order} of order {order_id} was cancelled on the platform, and its money was not given back; refund it, or deliver all the same',
  too_late: 'order {order_id} was paid too late: its addresses are gone',
  paid_twice: 'order {order_id} was paid already; refund {platform_order}',
  renewal_too_late: 'order {order_id} is {state} and cannot be renewed; refund {platform_order}',
  renewal_underpaid: 'renewal of order {order_id}: paid {paid} of {due}',
  renewal_lines_missing: 'renewal of order {order_id} was paid for less than was ordered: {missing}',
  renewal_not_sold:
    'renewal of order {order_id} was paid by what is not sold any more: {what}; renew it all the same, or refund {platform_order}',
  renewals_unserved:
    'order {order_id} was refunded and its lease has ended; its renewals ({amount}) were paid and not refunded',
  partly_refunded: 'order {order_id}: {amount} of {platform_order} were given back; decide whether its lease goes on',
  cancelled_delivered:
    'payment {platform_order} of order {order_id} was cancelled on the platform, and its money was not given back; refund it, or let the lease go on',
  inquiry:
    'order {order_id}: the buyer’s bank asks about {platform_order}, or stopped a dispute of it; look at it on the platform',
  dispute_won:
    'the dispute about {platform_order} was won: the money is back, and the lease of order {order_id} has ended',
  refund_failed:
    'order {order_id}: a refund of {platform_order} failed on the platform, {amount} of it was not given back after all; refund it again, or reopen the order where its lease has ended',
  refund_doubtful:
    'order {order_id}: {amount} of {platform_order} counts as given back, but the platform calls it {status}; look at it there',
  unreadable: 'unreadable: the event has another shape than expected'
} as const satisfies Partial<Record<EventOutcome, string>>
export type AttentionOutcome = keyof typeof ATTENTION

/** The same in Chinese. */
export const ATTENTION_ZH: Record<AttentionOutcome, string> = {
  unknown_order: '未对应本店的任何订单（order_id {order_id}）',
  underpaid: '订单 {order_id}：应付 {due}，实付 {paid}',
  lines_missing: '订单 {order_id} 的付款内容少于订单：{missing}',
  purchase_not_sold: '订单 {order_id} 的付款到账较晚，所购内容已不再出售：{what}。可照常交付，或退还 {platform_order}',
  wrong_currency: '订单 {order_id} 以 {currency} 付款，而非 {expected}',
  test_payment: '订单 {order_id} 为测试付款：未收取款项',
  cancelled: '订单 {order_id} 的付款 {platform_order} 已在平台上取消，但款项尚未退还。请退款，或仍然交付',
  too_late: '订单 {order_id} 付款过晚：其地址已释放',
  paid_twice: '订单 {order_id} 此前已付款。请退还 {platform_order}',
  renewal_too_late: '订单 {order_id} 的状态为“{state}”，无法续费。请退还 {platform_order}',
  renewal_underpaid: '订单 {order_id} 的续费：应付 {due}，实付 {paid}',
  renewal_lines_missing: '订单 {order_id} 的续费付款内容少于应付：{missing}',
  renewal_not_sold:
    '订单 {order_id} 的续费付款所购内容已不再出售：{what}。可应用该付款以照常续费，或退还 {platform_order}',
  renewals_unserved: '订单 {order_id} 已退款，租用已结束。其续费（{amount}）已付款但未退还',
  partly_refunded: '订单 {order_id}：已退还 {platform_order} 中的 {amount}。请决定租用是否继续',
  cancelled_delivered: '订单 {order_id} 的付款 {platform_order} 已在平台上取消，但款项尚未退还。请退款，或让租用继续',
  inquiry: '订单 {order_id}：买家的银行正在查询 {platform_order}，或已中止其争议。请在平台上查看',
  dispute_won: '{platform_order} 的争议已胜诉：款项已收回，订单 {order_id} 的租用已结束',
  refund_failed:
    '{platform_order} 的一笔退款在平台上失败：其中 {amount} 实际未退还。请重新退款；若订单 {order_id} 的租用已结束，也可重新开通',
  refund_doubtful:
    '{platform_order}（订单 {order_id}）有 {amount} 记为已退还，但平台上的状态为 {status}。请在平台上核对',
  unreadable: '事件的格式与预期不符'
}

/** How an administrator ended what the platform's event left open. */
export const RESOLUTIONS = ['applied', 'refunded', 'ignored'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** `held`: it settles nothing yet; `accepted`: it counts; `refunded`: all of it was given back. */
export const PAYMENT_STATES = ['held', 'accepted', 'ignored', 'refunded'] as const
export type PaymentState = (typeof PAYMENT_STATES)[number]

/**
 * A refund: `asked`: the platform is asked for it at this moment; `unanswered`: its answer was cut off, and it may have been made;
 * `answered`: the platform took it on; `refused`: it was not made; `counted`: the money went back; `returned`: it came back to the shop.
 */
export const REFUND_STATES = ['asked', 'unanswered', 'answered', 'refused', 'counted', 'returned'] as const
export type RefundState = (typeof REFUND_STATES)[number]
