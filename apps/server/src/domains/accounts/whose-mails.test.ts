import { asc, eq, sql } from '../../infra/db/drizzle.ts'
import { beforeEach, expect, test, describe } from 'vitest'
import { TEST_PASSWORD, type TestShop } from '../../testing/shop.ts'
import { sendMail } from '../mail/send-mail.ts'
import { mailContents, mails } from '../mail/tables.ts'
import { tickets } from '../support/tables.ts'
import { useStarted } from '../../testing/use-started.ts'
import { startStockedShop, type StockedShop } from '../../api/stocked-shop.fixture.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { ok } from '../../infra/result.ts'
import { userActor } from '../../testing/session.ts'
import { orders } from '../orders/tables.ts'
import { userPreferences } from './tables.ts'
import { addRow } from '../../testing/rows.ts'
import type { MailRequest } from '../mail/render-mail.ts'

// No worker runs: the test sends the mails.
const shop = useStarted(startStockedShop)
beforeEach(async () => {
  await shop.ctx.db.execute(sql`delete from pgboss.job`)
  await shop.ctx.db.delete(mails)
})

type Client = Awaited<ReturnType<TestShop['customer']>>
const send = (request: MailRequest) => sendMail(shop.ctx, request, 'job')
const loginOf = (username: string, to: string, key: string): MailRequest<'new-login'> => {
  const at = shop.ctx.now().toISOString()
  return {
    to,
    key,
    template: 'new-login',
    data: { username, at, device: `Browser ${key}`, ip: '203.0.113.9', country: 'US' }
  }
}
/** A mail without a name, such as one with a code. */
const unnamed = (to: string, key: string): MailRequest => ({
  to,
  key,
  template: 'address-registered',
  data: { at: shop.ctx.now().toISOString() }
})
const sendWaiting = async () => {
  const { rows } = await shop.ctx.db.execute<{ data: MailRequest }>(
    sql`select data from pgboss.job where name = 'send-mail' order by created_on, id`
  )
  for (const { data } of rows) await send(data)
  await shop.ctx.db.execute(sql`delete from pgboss.job`)
}
const move = async (who: Client, form: object) => {
  const boss = await shop.admin()
  expect((await boss.put(`/api/users/u/${who.user.id}/`, form)).code).toBe(2000)
  await sendWaiting()
}
const leave = async (who: Client) =>
  expect((await who.post('/api/users/delete_account', { password: TEST_PASSWORD })).code).toBe(2000)
const downloaded = async (who: Client) => {
  const data = (await (await who.fetch('/api/users/u/data_export')).json()) as {
    mails: { to: string; template: string; text: string | null }[]
  }
  return data.mails.map(({ to, template, text }) =>
    `${template} ${to} ${/Browser \w+/.exec(text ?? '')?.[0] ?? ''}`.trim()
  )
}
const logged = async () => {
  const rows = await shop.ctx.db
    .select({ key: mails.key, to: mails.to, text: mailContents.text })
    .from(mails)
    .leftJoin(mailContents, eq(mailContents.mailId, mails.id))
    .orderBy(asc(mails.id))
  return Object.fromEntries(rows.map(({ key, to, text }) => [key.split(':')[0], text === null ? `${to}, no text` : to]))
}

test("the answer to a stranger's ticket stays when a user leaves who is called as the ticket says", async () => {
  const boss = await shop.admin()
  const sent = { username: 'Anna', email: 'visitor@elsewhere.org', phone: '1', message: 'Please help' }
  const ticket = await addRow(shop.ctx, tickets, sent)
  const anna = await shop.customer({ username: 'anna', email: 'anna@b.com' })
  expect((await boss.post(`/api/tickets/ticket/${ticket.id}/answer/`, { answer: 'You get 30 USD.' })).code).toBe(2000)
  await sendWaiting()
  await send(loginOf('anna', 'former@b.com', 'named'))
  await leave(anna)
  expect(await logged()).toEqual({ ticket: 'visitor@elsewhere.org', named: 'deleted, no text' })
})

test('an address that goes to another user takes no mails along, into the download or with a deletion', async () => {
  const first = await shop.customer({ username: 'First1', email: 'shared@corp.com' })
  await send(loginOf('First1', 'shared@corp.com', 'a'))
  await send(unnamed('shared@corp.com', 'b'))
  await move(first, { username: 'First2' })
  await send(loginOf('First2', 'shared@corp.com', 'c'))
  await move(first, { email: 'first@private.com' })
  // The sign-up code of the address's next user.
  await send(unnamed('shared@corp.com', 'code'))
  const second = await shop.customer({ username: 'Second1', email: 'Shared@corp.com' })
  await send(loginOf('Second1', 'Shared@corp.com', 'd'))
  await send(unnamed('Shared@corp.com', 'e'))

  expect(await downloaded(first)).toEqual([
    'new-login shared@corp.com Browser a',
    'address-registered shared@corp.com',
    'new-login shared@corp.com Browser c',
    'email-changed shared@corp.com'
  ])
  expect(await downloaded(second)).toEqual([
    'new-login Shared@corp.com Browser d',
    'address-registered Shared@corp.com'
  ])

  await leave(second)
  const kept = { a: 'shared@corp.com', b: 'shared@corp.com', c: 'shared@corp.com', 'email-changed': 'shared@corp.com' }
  const gone = 'deleted, no text'
  expect(await logged()).toEqual({ ...kept, code: gone, d: gone, e: gone })
  await leave(first)
  expect(new Set(Object.values(await logged()))).toEqual(new Set([gone]))
})

test('a name that goes to another user takes no mails along', async () => {
  const first = await shop.customer({ username: 'Maria1', email: 'maria@b.com' })
  await send(loginOf('Maria1', 'maria@b.com', 'a'))
  await move(first, { username: 'Maria2' })
  const second = await shop.customer({ username: 'Someone1', email: 'someone@b.com' })
  await move(second, { username: 'Maria1' })
  await send(loginOf('Maria1', 'someone@b.com', 'b'))
  expect(await downloaded(first)).toEqual(['new-login maria@b.com Browser a'])
  expect(await downloaded(second)).toEqual(['new-login someone@b.com Browser b'])
  await leave(second)
  expect(await logged()).toEqual({ a: 'maria@b.com', b: 'deleted, no text' })
})

describe('what happens while an account is deleted', () => {
  const DELETE = '/api/users/delete_account'
  const password = TEST_PASSWORD
  type Customer = Awaited<ReturnType<StockedShop['customer']>>

  const place = (buyer: Customer) =>
    buyer.post<{ order_id: string }>('/api/orders/checkout', {
      product_id: shop.productId,
      quantity: 8,
      option_selected: { option1: 'New York', acl_selected: shop.rules.slice(0, 1) }
    })

  /** An account with references, so that its row stays after the deletion. */
  async function withHistory(): Promise<Customer> {
    const client = await shop.customer()
    await place(client)
    const { db } = shop.ctx
    await db.execute(sql`update orders set state = 'timed_out' where user_id = ${client.user.id}`)
    await db.execute(sql`update leases set state = 'released', released_at = now()
    where order_id in (select id from orders where user_id = ${client.user.id})`)
    return client
  }

  /** A customer's command that writes when told to. */
  function held(userId: number): { written: Promise<unknown>; write: () => void; begun: Promise<void> } {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const written = command(shop.ctx, userActor(userId), async ({ tx, now }) => {
      await tx.execute(sql`select 1`)
      begun.resolve()
      await gate.promise
      await tx.insert(userPreferences).values({ userId, key: 'held', value: 'private words', updatedAt: now })
      return ok(null)
    })
    return { written, write: gate.resolve, begun: begun.promise }
  }

  const left = (userId: number) => shop.ctx.db.$count(userPreferences, eq(userPreferences.userId, userId))

  test.each(['a row that stays', 'no row any more'])(
    'what a customer does while the account is deleted is refused: %s',
    async kind => {
      const client = kind === 'no row any more' ? await shop.customer() : await withHistory()
      const { written, write, begun } = held(client.user.id)
      await begun
      expect((await client.post(DELETE, { password })).code).toBe(2000)
      write()
      expect(await written).toMatchObject({ ok: false, reason: 'unauthorized' })
      expect(await left(client.user.id)).toBe(0)
    }
  )

  const isDeletionWaiting = async () => {
    const { rows } = await shop.ctx.db.execute(sql`select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query ilike '%for update%'`)
    return rows.length > 0
  }

  test.each(['own', "an administrator's"])(
    'an order that is placed after a deletion asked what is owed keeps the account: %s deletion',
    async whose => {
      const client = await withHistory()
      const boss = await shop.admin()
      const [free, locked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      // Holds the deletion when it locks the user, after its check of debts.
      const holding = command(shop.ctx, SYSTEM, async ({ tx }) => {
        await tx.execute(sql`select from users where id = ${client.user.id} for key share`)
        locked.resolve()
        await free.promise
      })
      await locked.promise
      const deletion =
        whose === 'own' ? client.post(DELETE, { password }) : boss.delete(`/api/users/u/${client.user.id}/`)
      await expect.poll(isDeletionWaiting, { timeout: 20_000 }).toBe(true)
      const placed = await place(client)
      free.resolve()
      await holding
      expect(placed.code).toBe(2000)
      expect((await deletion).code).toBe(409)
      const [order] = await shop.ctx.db.select().from(orders).where(eq(orders.publicId, placed.data.order_id))
      expect(order).toMatchObject({ userId: client.user.id, state: 'placed' })
    }
  )
})
