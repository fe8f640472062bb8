import { MINUTE } from '../../apps/server/src/infra/clock.ts'
import type { Database } from '../../apps/server/src/infra/db/client.ts'
import { csvOf, paginate, type List, type ListInput } from '../../apps/server/src/infra/list/index.ts'
import { invitedList, userList } from '../../apps/server/src/domains/accounts/list-users.ts'
import { searchUsers } from '../../apps/server/src/domains/accounts/index.ts'
import { auditNames } from '../../apps/server/src/order-names.ts'
import { entryList } from '../../apps/server/src/domains/audit/list-entries.ts'
import { proxyList } from '../../apps/server/src/domains/delivery/list-proxies.ts'
import { searchOrders } from '../../apps/server/src/domains/orders/index.ts'
import { statistics } from '../../apps/server/src/domains/orders/figures.ts'
import { orderList } from '../../apps/server/src/domains/orders/list.ts'
import { leaseList } from '../../apps/server/src/domains/orders/address-holders.ts'
import { mailList } from '../../apps/server/src/domains/mail/send-again.ts'
import { inboxList } from '../../apps/server/src/domains/inbox/inbox.ts'
import { ordersPaidBy } from '../../apps/server/src/domains/payments/index.ts'
import { levelThresholds } from '../../apps/server/src/domains/rewards/index.ts'
import { giftCardList } from '../../apps/server/src/domains/rewards/list-gift-cards.ts'
import { pointRecordList } from '../../apps/server/src/domains/rewards/point-history.ts'
import { ticketList } from '../../apps/server/src/domains/support/tickets.ts'
import { loginList } from '../../apps/server/src/domains/accounts/logins.ts'
import { outagesList } from '../../apps/server/src/domains/delivery/servers/lost-time.ts'
import { blockedList } from '../../apps/server/src/domains/mail/blocked-addresses.ts'
import { noticeList } from '../../apps/server/src/domains/notices/list.ts'
import { userPaymentList } from '../../apps/server/src/domains/statements/payments.ts'
import { couponList } from '../../apps/server/src/domains/rewards/coupons.ts'
import { deliveryList } from '../../apps/server/src/domains/webhooks/log.ts'
import type { Size, Subjects } from './dataset.ts'

/** One call of a list, as a request makes it. */
export type Case = { what: string; run: () => Promise<unknown> }

/** Every list and search that can become large, on one database. */
export async function casesOf(db: Database, subjects: Subjects, { rows, users }: Size): Promise<Case[]> {
  const now = new Date()
  const everyone = orderList({ userId: null, now, ordersPaidBy })
  const payments = inboxList({ now })
  const own = orderList({ userId: subjects.customer, now, ordersPaidBy })
  const listOfUsers = userList({ levelThresholds })
  const proxies = proxyList({ id: subjects.order, is_expired: false }, now)
  const records = pointRecordList(subjects.customer, now)
  const invited = invitedList(subjects.customer)
  const entries = entryList(auditNames)
  const codes = couponList()
  const allTickets = ticketList({ id: 0 })
  const deliveries = deliveryList()
  const deep = { offset: Math.floor(rows / 2) }
  const byExpiry = { sort_by: 'expired_at', sort_order: 'asc' } as const
  // With an order per minute: the month of the middle order, and an offset halfway into it.
  const month = new Date(now.getTime() - (rows / 2) * MINUTE).toISOString().slice(0, 7)
  const deepInMonth = { offset: Math.min(20_000, Math.floor(rows / 4)) }

  const lists = await Promise.all([
    casesOfList(db, 'orders', everyone, { count: rows }),
    casesOfList(db, 'own orders', own, { count: Math.floor(rows / 33) }),
    casesOfList(db, 'users', listOfUsers, { count: users }),
    casesOfList(db, 'invited users', invited, { count: Math.floor(users / 10) }),
    casesOfList(db, 'audit log', entries, { count: rows }),
    casesOfList(db, 'proxies of an order', proxies, { count: rows, sort_order: 'asc' }),
    casesOfList(db, 'point records', records, { count: Math.floor(rows / 10) }),
    casesOfList(db, 'gift cards', giftCardList, { count: rows }),
    casesOfList(db, 'payments inbox', payments, { count: Math.floor(rows * 0.9) }),
    casesOfList(db, 'mails', mailList, { count: rows }),
    casesOfList(db, 'tickets', allTickets, { count: rows }),
    casesOfList(db, 'payments of a user', userPaymentList(subjects.customer), {
      count: Math.floor(rows / 50)
    }),
    casesOfList(db, 'promo codes', codes, { count: rows }),
    casesOfList(db, 'own promo codes', couponList(subjects.customer), { count: Math.floor(rows / 10) }),
    casesOfList(db, 'log-ins of a user', loginList(subjects.customer), { count: Math.floor(rows / 10) }),
    casesOfList(db, 'webhook deliveries', deliveries, { count: rows }),
    casesOfList(db, 'own webhook deliveries', deliveryList(subjects.customer), { count: Math.floor(rows / 10) }),
    casesOfList(db, 'notices', noticeList, { count: rows }),
    casesOfList(db, 'blocked addresses', blockedList, { count: rows }),
    casesOfList(
      db,
      'outages',
      outagesList(() => now),
      { count: rows }
    )
  ])
  const page =
    <Q extends ListInput>(list: List<Q, { id: number }>, query: Partial<Q>) =>
    async () => {
      const found = await paginate(db, list, inputOf(query))
      if (!found.ok) throw new Error('a page was refused')
      return found.data
    }
  return [
    ...lists.flat(),
    { what: 'orders, by expiry', run: page(everyone, byExpiry) },
    { what: 'orders, by amount', run: page(everyone, { sort_by: 'amount' }) },
    { what: 'orders, by amount, deep by offset', run: page(everyone, { sort_by: 'amount', ...deep }) },
    { what: 'orders, paid', run: page(everyone, { pay_status: '1' }) },
    { what: 'orders, unpaid', run: page(everyone, { pay_status: '0' }) },
    { what: 'orders, a rare state', run: page(everyone, { state: 'failed' }) },
    { what: 'orders, a common state', run: page(everyone, { state: 'expired' }) },
    { what: 'orders, a state, by amount', run: page(everyone, { state: 'failed', sort_by: 'amount' }) },
    { what: 'orders, with a problem', run: page(everyone, { problem: '1' }) },
    { what: 'orders, paid and not over', run: page(everyone, { live: '1' }) },
    { what: 'orders, paid and not over, by expiry', run: page(everyone, { ...byExpiry, live: '1' }) },
    { what: 'orders, placed in a month', run: page(everyone, { placed_in: month }) },
    { what: 'orders, placed in a month, deep by offset', run: page(everyone, { placed_in: month, ...deepInMonth }) },
    { what: 'orders, placed in a month, by expiry', run: page(everyone, { ...byExpiry, placed_in: month }) },
    { what: 'orders, placed in a month, by amount', run: page(everyone, { placed_in: month, sort_by: 'amount' }) },
    { what: 'orders, placed on a day', run: page(everyone, { placed_on: `${month}-15` }) },
    { what: 'orders, paid in a month', run: page(everyone, { paid_in: month }) },
    { what: 'orders, delivered in 7 days', run: page(everyone, { delivered_in: 'week' }) },
    { what: 'orders, a collection', run: page(everyone, { product_type: 1 }) },
    { what: 'orders, a small collection', run: page(everyone, { product_type: 2 }) },
    { what: 'orders, search an id', run: page(everyone, { search: String(Math.floor(rows / 2)) }) },
    { what: 'orders, search an order id', run: page(everyone, { search: subjects.orderId }) },
    { what: 'orders, search a part of an order id', run: page(everyone, { search: subjects.orderId.slice(3, 9) }) },
    { what: 'orders, search a platform number', run: page(everyone, { search: subjects.platformNumber }) },
    { what: 'orders, search an e-mail', run: page(everyone, { search: subjects.email }) },
    { what: 'orders, search an address', run: page(everyone, { search: subjects.address }) },
    { what: 'orders, search a rare product', run: page(everyone, { search: 'quartz special' }) },
    { what: 'orders, search a rare user', run: page(everyone, { search: 'zebra' }) },
    { what: 'orders, search common products', run: page(everyone, { search: 'residential' }) },
    { what: 'orders, search a common user name', run: page(everyone, { search: 'user' }) },
    { what: 'orders, search what is not there', run: page(everyone, { search: 'no such thing' }) },
    { what: 'orders, search product and user', run: page(everyone, { product_name: 'plan 1', username: 'zebra' }) },
    { what: 'own orders, search a product', run: page(own, { search: 'plan 1' }) },
    { what: 'own orders, search what is not there', run: page(own, { search: 'no such thing' }) },
    { what: 'own orders, search a plan', run: page(own, { search: '30 days' }) },
    { what: 'own orders, that expire soon', run: page(own, { ...byExpiry, expiring: '1' }) },
    {
      what: 'own orders, placed in a month',
      run: page(own, { placed_from: `${month}-01`, placed_until: `${month}-28` })
    },
    { what: 'own orders, by amount', run: page(own, { sort_by: 'amount' }) },
    { what: 'orders, statistics', run: () => statistics(db, now) },
    { what: 'users, search an e-mail', run: page(listOfUsers, { search: subjects.email }) },
    { what: 'users, search a rare text', run: page(listOfUsers, { search: 'zebra' }) },
    { what: 'users, search a common text', run: page(listOfUsers, { search: 'example' }) },
    { what: 'users, search what is not there', run: page(listOfUsers, { search: 'no such user' }) },
    { what: 'audit log, search a rare text', run: page(entries, { search: 'quetzal' }) },
    { what: 'audit log, search a common text', run: page(entries, { search: 'order' }) },
    { what: 'audit log, search a target', run: page(entries, { search: `user ${Math.floor(rows / 8)}` }) },
    { what: 'audit log, search what is not there', run: page(entries, { search: 'no such entry' }) },
    { what: 'addresses, of a /20', run: page(leaseList, { address: '10.0.0.0/20' }) },
    { what: 'addresses, of a /16', run: page(leaseList, { address: '10.0.0.0/16' }) },
    { what: 'addresses, of a /29', run: page(leaseList, { address: '10.0.0.8/29' }) },
    { what: 'addresses, nobody then', run: page(leaseList, { address: '10.0.0.0/16', to: '2020-01-01T00:00:00Z' }) },
    { what: 'console search, an order id', run: () => searchOrders(db, subjects.orderId, { limit: 5, ordersPaidBy }) },
    {
      what: 'console search, a part of an order id',
      run: () => searchOrders(db, subjects.orderId.slice(3, 9), { limit: 5, ordersPaidBy })
    },
    { what: 'console search, no part of an id', run: () => searchOrders(db, '___', { limit: 5, ordersPaidBy }) },
    { what: 'console search, a rare user', run: () => searchUsers(db, 'zebra', 5) },
    { what: 'console search, a common user name', run: () => searchUsers(db, 'user', 5) },
    { what: 'console search, no such user', run: () => searchUsers(db, 'no such user', 5) },
    { what: 'proxies, search an address', run: page(proxies, { search: subjects.address }) },
    { what: 'gift cards, search a part of a code', run: page(giftCardList, { search: 'C4CA423' }) },
    { what: 'gift cards, search a common text', run: page(giftCardList, { search: 'gift' }) },
    { what: 'gift cards, search what is not there', run: page(giftCardList, { search: 'no such card' }) },
    { what: 'gift cards, exchanged', run: page(giftCardList, { is_exchanged: '1' }) },
    { what: 'gift cards, by mount', run: page(giftCardList, { sort_by: 'mount' }) },
    { what: 'gift cards, by point', run: page(giftCardList, { sort_by: 'point' }) },
    { what: 'payments inbox, a rare outcome', run: page(payments, { outcome: 'dispute_won' }) },
    { what: 'payments inbox, a common outcome', run: page(payments, { outcome: 'settled' }) },
    { what: 'payments inbox, an outcome that never came', run: page(payments, { outcome: 'unreadable' }) },
    { what: 'payments inbox, that are late', run: page(payments, { late: '1' }) },
    { what: 'payments inbox, that wait', run: page(payments, { unresolved: '1' }) },
    { what: 'payments inbox, search a platform number', run: page(payments, { search: subjects.platformNumber }) },
    { what: 'mails, a rare state', run: page(mailList, { state: 'failed' }) },
    { what: 'mails, a common state', run: page(mailList, { state: 'sent' }) },
    { what: 'mails, search an address', run: page(mailList, { search: subjects.email }) },
    { what: 'mails, search a common text', run: page(mailList, { search: 'example' }) },
    { what: 'mails, search what is not there', run: page(mailList, { search: 'no such address' }) },
    { what: 'tickets, a rare state', run: page(allTickets, { state: 'open' }) },
    { what: 'tickets, a common state', run: page(allTickets, { state: 'closed' }) },
    { what: 'tickets, without an assignee', run: page(allTickets, { queue: 'unassigned' }) },
    { what: 'tickets, of one operator', run: page(allTickets, { queue: 'mine' }) },
    {
      what: 'tickets, that wait longest',
      run: page(allTickets, { queue: 'waiting', sort_by: 'waiting_since', sort_order: 'asc' })
    },
    { what: 'tickets, search a rare text', run: page(allTickets, { search: 'quetzal' }) },
    { what: 'tickets, search a common text', run: page(allTickets, { search: 'addresses' }) },
    { what: 'tickets, search what is not there', run: page(allTickets, { search: 'no such ticket' }) },
    { what: 'promo codes, a rare state', run: page(codes, { platform_state: 'missing' }) },
    { what: 'promo codes, search a part of a code', run: page(codes, { search: 'C4CA423' }) },
    { what: 'promo codes, search a common text', run: page(codes, { search: 'save' }) },
    { what: 'webhook deliveries, a rare state', run: page(deliveries, { state: 'failed' }) },
    { what: 'webhook deliveries, a common event', run: page(deliveries, { event: 'order.delivered' }) },
    { what: 'webhook deliveries, one endpoint', run: page(deliveries, { endpoint_id: 7 }) },
    { what: 'notices, open', run: page(noticeList, { state: 'open' }) },
    { what: 'notices, that could not be told', run: page(noticeList, { state: 'failed' }) },
    { what: 'notices, a rare cause', run: page(noticeList, { cause: 'token' }) },
    { what: 'notices, search a rare text', run: page(noticeList, { search: 'quetzal' }) },
    { what: 'notices, search a common text', run: page(noticeList, { search: 'server' }) },
    { what: 'blocked addresses, a rare cause', run: page(blockedList, { cause: 'complained' }) },
    { what: 'blocked addresses, search an address', run: page(blockedList, { search: subjects.email }) },
    {
      what: 'outages, that last',
      run: page(
        outagesList(() => now),
        { state: 'lasts' }
      )
    },
    {
      what: 'outages, a server',
      run: page(
        outagesList(() => now),
        { server_id: 2 }
      )
    }
  ]
}

/** The queries of every list: the first page, two deep pages, and the first batch of its CSV. */
async function casesOfList<Q extends ListInput>(
  db: Database,
  what: string,
  list: List<Q, { id: number }>,
  { count, sort_order = 'desc' }: { count: number; sort_order?: 'asc' | 'desc' }
): Promise<Case[]> {
  const page = async (query: Partial<ListInput>) => {
    const found = await paginate(db, list, inputOf<Q>({ sort_order, ...query } as Partial<Q>))
    if (!found.ok || found.data.data.length === 0) throw new Error(`${what}: no such page`)
    return found.data
  }
  const { next } = await page({ offset: Math.floor(count / 2) })
  if (!next) throw new Error(`${what}: half of them are all of them`)
  return [
    { what: `${what}, first page`, run: () => page({}) },
    { what: `${what}, deep by key`, run: () => page({ after: next }) },
    { what: `${what}, deep by offset`, run: () => page({ offset: Math.floor(count / 2) }) },
    {
      what: `${what}, CSV, first batch`,
      async run() {
        const file = await csvOf(db, list, inputOf<Q>({ sort_order } as Partial<Q>), {
          columns: ['id'],
          now: new Date()
        })
        if (!file.ok) throw new Error(`${what}: no file`)
        const closed = new Promise<void>(done => file.data.content.once('close', () => done()))
        file.data.content.destroy()
        await closed
      }
    }
  ]
}

const inputOf = <Q extends ListInput>(query: Partial<Q>) =>
  ({ limit: 10, offset: 0, sort_by: 'id', sort_order: 'desc', ...query }) as unknown as Q
