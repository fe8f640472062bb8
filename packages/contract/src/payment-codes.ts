/** Outcomes of money events that an administrator must look at. `fillIn` replaces the parameters. */
export const ATTENTION = {
  // The administrator looks at it, here or on the platform.
  unreadable: 'unreadable: the event has an unexpected format',
  inquiry:
    'order {order_id}: the buyer’s bank has a question about {platform_order}, or closed a dispute about it; check it on the platform',
  refund_doubtful:
    'order {order_id}: {amount} of {platform_order} is recorded as refunded, but its status on the platform is {status}; check it there',
  refund_stuck:
    'order {order_id}: the platform has had no result for its refund of {platform_order} ({amount}) for 2 weeks; check it there',
  refunded_twice:
    'order {order_id}: {amount} too much may have been refunded for {platform_order} ({charged} paid); check it on the platform',
  // The administrator decides what the payment is for, or refunds it.
  unknown_order: 'the payment names no order in this shop (order_id {order_id})',
  lines_missing: 'the payment for order {order_id} is too small; missing: {missing}',
  part_paid:
    'the platform received only {amount} of {platform_order}, and order {order_id} no longer waits for the rest; give it back on the platform',
  purchase_not_sold:
    'order {order_id} was paid for something no longer sold: {what}; deliver or renew it anyway, or refund {platform_order}',
  wrong_currency: 'order {order_id} was paid in {currency} instead of {expected}',
  test_payment: 'order {order_id} has a test payment; no money was charged',
  cancelled:
    'payment {platform_order} for order {order_id} was cancelled on the platform but not fully refunded; refund the rest, or deliver the order',
  too_late:
    'order {order_id} was paid too late: its addresses are gone, or it was refunded or can no longer be renewed. Refund {platform_order}, or deliver or renew the order if addresses are free',
  paid_twice: 'order {order_id} was already paid; refund {platform_order}',
  paid_more:
    'order {order_id}: the customer paid {amount} more for {platform_order}, which was ignored before; deliver, apply or refund it',
  lines_more:
    'order {order_id} has {count} addresses, but {platform_order} paid for more, or for something else: {lines}; refund the difference, or agree with the customer',
  // The administrator decides whether the lease goes on, and what else to refund.
  partly_refunded: 'order {order_id}: {amount} of {platform_order} was refunded; decide whether its lease continues',
  cancelled_delivered:
    'payment {platform_order} for order {order_id} was cancelled on the platform but not fully refunded; refund the rest, or let the lease continue',
  renewals_unserved:
    'order {order_id} was refunded and its lease has ended; its renewals ({amount}) were paid but not refunded',
  dispute_won:
    'you won the dispute about {platform_order}; the money is back, but it buys nothing now. Reopen order {order_id} if it has time left, apply the payment, or ignore this',
  refund_failed:
    'order {order_id}: a refund of {platform_order} failed on the platform, so {amount} did not go back; refund it again, or reopen the order'
} as const
export type AttentionOutcome = keyof typeof ATTENTION

export const ATTENTION_ZH: Record<AttentionOutcome, string> = {
  unreadable: '事件的格式与预期不符',
  inquiry: '订单 {order_id}：买家的银行正在查询 {platform_order}，或已结束其争议。请在平台上查看',
  refund_doubtful:
    '{platform_order}（订单 {order_id}）有 {amount} 记为已退还，但平台上的状态为 {status}。请在平台上核对',
  refunded_twice:
    '订单 {order_id}：{platform_order}（收到 {charged}）可能多退了 {amount}。请在平台上核对，并确认是否另行退过款',
  refund_stuck:
    '平台已开始退还 {platform_order}（订单 {order_id}）的款项（{amount}），但两周后仍无结果。请在平台上核对',
  unknown_order: '未对应本店的任何订单（order_id {order_id}）',
  lines_missing: '订单 {order_id} 的付款内容少于所需：{missing}',
  part_paid: '平台只收到 {platform_order} 中的 {amount}，而订单 {order_id} 已不再等待余款。请在平台上退还',
  purchase_not_sold: '订单 {order_id} 付款购买的内容已不再出售：{what}。可照常交付或续费，或退还 {platform_order}',
  wrong_currency: '订单 {order_id} 以 {currency} 付款，而非 {expected}',
  test_payment: '订单 {order_id} 为测试付款：未收取款项',
  cancelled: '订单 {order_id} 的付款 {platform_order} 已在平台上取消，但款项尚未全部退还。请退还余款，或仍然交付',
  too_late:
    '订单 {order_id} 付款过晚：其地址已释放、订单已退款，或已无法续费。请待有其他地址时交付或续费，或退还 {platform_order}',
  paid_twice: '订单 {order_id} 此前已付款。请退还 {platform_order}',
  paid_more: '订单 {order_id}：此前已忽略的付款 {platform_order} 又收到 {amount}。请交付、用于订单或退款',
  lines_more:
    '订单 {order_id} 有 {count} 个地址，但 {platform_order} 付款购买的更多，或为其他内容：{lines}。请退还差额，或与客户商定',
  partly_refunded: '订单 {order_id}：已退还 {platform_order} 中的 {amount}。请决定租用是否继续',
  cancelled_delivered:
    '订单 {order_id} 的付款 {platform_order} 已在平台上取消，但款项尚未全部退还。请退还余款，或让租用继续',
  renewals_unserved: '订单 {order_id} 已退款，租用已结束。其续费（{amount}）已付款但未退还',
  dispute_won:
    '{platform_order} 的争议已胜诉：款项已收回，但目前未用于任何租用。如订单 {order_id} 仍有剩余时间，可重新开通；也可将该付款用于订单，或忽略',
  refund_failed:
    '{platform_order} 的一笔退款在平台上失败：其中 {amount} 实际未退还。请重新退款；若订单 {order_id} 的租用已结束，也可重新开通'
}

/**
 * Outcomes of a money event. The first four need no administrator: the payment counts (`settled`), money went back, the
 * order is not paid yet, or the event says nothing new about an order of ours (`ignored`).
 */
export const MONEY_OUTCOMES = [
  'settled',
  'refunded',
  'not_paid',
  'ignored',
  ...(Object.keys(ATTENTION) as AttentionOutcome[])
] as const

/** Outcomes of any event of the platform, including product events. */
export const EVENT_OUTCOMES = [...MONEY_OUTCOMES, 'applied', 'withdrawn', 'not_sold'] as const
export type EventOutcome = (typeof EVENT_OUTCOMES)[number]

/** How an administrator closed an event that waited for a decision. */
export const RESOLUTIONS = ['applied', 'refunded', 'ignored'] as const
export type Resolution = (typeof RESOLUTIONS)[number]

/** `held`: settles nothing yet. `accepted`: counts. `refunded`: the whole payment went back. */
export const PAYMENT_STATES = ['held', 'accepted', 'ignored', 'refunded'] as const
export type PaymentState = (typeof PAYMENT_STATES)[number]

/**
 * `asked`: the request is on its way. `unanswered`: its answer was lost, so the refund may have been made. `answered`:
 * the platform accepted it. `refused`: not made. `counted`: the money went back. `returned`: it came back to the shop.
 */
export const REFUND_STATES = ['asked', 'unanswered', 'answered', 'refused', 'counted', 'returned'] as const
export type RefundState = (typeof REFUND_STATES)[number]
