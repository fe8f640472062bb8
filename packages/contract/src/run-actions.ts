/** Actions on many rows. The part before the dot names the rows' list. */
export const BULK_ACTIONS = [
  'order.change',
  'order.reset',
  'order.check',
  'order.deliver',
  'order.delete',
  'gift_card.delete',
  'coupon.check',
  'coupon.create_there',
  'gift_card.check',
  'gift_card.create_there',
  'level_code.check',
  'level_code.create_there'
] as const
export type BulkAction = (typeof BULK_ACTIONS)[number]

/** Also runs that the shop starts through other calls, because they need more than the rows. */
export const RUN_ACTIONS = [...BULK_ACTIONS, 'order.leave_server', 'order.credit_outage'] as const
export type RunAction = (typeof RUN_ACTIONS)[number]
