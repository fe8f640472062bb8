import type { SentMail } from '@netlet/contract'
import type { TestClient } from '../../testing/client.ts'
import type { MailBrand } from '../settings/index.ts'
import type { MailRequest } from './render-mail.ts'

/** The default shop, as its mails look. */
export const DEFAULT_BRAND: MailBrand = { name: 'Netlet', accent: null, logo: null, timeZone: 'UTC', footer: '' }

/** A mail about an order, which its recipient can switch off. */
export const cancelledMail = (
  to: string,
  more: Partial<MailRequest<'order-cancelled'>> = {}
): MailRequest<'order-cancelled'> => ({
  to,
  key: `cancelled:${to}`,
  template: 'order-cancelled',
  data: { username: 'Ann', order_id: 'NL-1', product_name: 'Plan' },
  ...more
})

/** The console's log for a search, newest first. */
export const readMailLog = async (admin: TestClient, search: string): Promise<SentMail[]> =>
  (await admin.get<{ data: SentMail[] }>(`/api/settings/mails/?search=${encodeURIComponent(search)}`)).data.data
