export type OrderState =
  | 'placed'
  | 'timed_out'
  | 'paid'
  | 'delivering'
  | 'partly_delivered'
  | 'delivered'
  | 'expired'
  | 'failed'
