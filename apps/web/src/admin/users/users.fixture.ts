import type { UserDetail } from '@netlet/contract'
import { user } from '../../testing/shapes.ts'

export const detail: UserDetail = {
  ...user,
  language: 'en',
  invited_by: { id: 9, username: 'bobby' },
  pending_points: 30,
  mail_blocked: null,
  owed_points: 4,
  sessions: 2,
  api_keys: 1,
  second_factors: 0,
  figures: { orders: 5, unpaid_orders: 1, live_orders: 3, paid: '62.50', owed: null }
}
