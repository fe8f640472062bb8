import type { CurrentUser, Order, RefundPlan } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { captchas } from '../../../apps/server/src/domains/accounts/tables.ts'
import { products } from '../../../apps/server/src/domains/catalog/tables.ts'
import { aclRules } from '../../../apps/server/src/domains/inventory/tables.ts'
import { MINUTE } from '../../../apps/server/src/infra/clock.ts'
import { DEMO_ADMIN, DEMO_CUSTOMER } from '../demo-texts.ts'
import type { Browser } from './browser.ts'
import { BROWSERS, PEOPLES_PASSWORD, type Person } from './people.ts'
import type { World } from './world.ts'

const ORDERS = '/api/orders/order_list'

export type Choice = {
  plan: string
  /** As on the plan's page: location, block and, for some plans, term. */
  options: readonly string[]
  /** Addresses. */
  quantity: number
  rules: readonly string[]
}

type Line = { variantId: string; quantity: number }
type Placed = { id: number; checkout_url: string }

/** Actions of the story's people, each through a browser of their own. */
export async function createActs(world: World) {
  const { ctx, timeline, clock, random, mailbox, platformUrl } = world
  const browsers = new Map<string, Browser>()
  const ids = new Map<string, number>()
  const rows = await ctx.db.select({ id: products.id, name: products.name }).from(products)
  const plans = new Map(rows.map(({ id, name }) => [name, id]))
  const ruleRows = await ctx.db.select({ id: aclRules.id, name: aclRules.name }).from(aclRules)
  const rules = new Map(ruleRows.map(({ id, name }) => [name, id]))

  const as = (username: string) => known(browsers, username)
  const idOf = (username: string) => known(ids, username)
  const admin = () => as(DEMO_ADMIN.username)

  function open({ username, ip, browser, language = 'en' }: Omit<Person, 'email' | 'joined'>): Browser {
    const opened = world.browser({ ip, userAgent: BROWSERS[browser], language })
    browsers.set(username, opened)
    return opened
  }

  async function logIn(username: string, password: string): Promise<void> {
    const user = await as(username).call<CurrentUser>('POST', '/api/auth/login', { username, password })
    ids.set(username, user.id)
  }

  async function onPlatform<T>(path: string, body?: object): Promise<T> {
    const reply = await fetch(`${platformUrl}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    })
    if (!reply.ok) throw new Error(`${path} of the platform answered ${reply.status}`)
    return (await reply.json()) as T
  }

  async function pay(checkoutUrl: string, withLines?: (lines: Line[]) => Line[]): Promise<void> {
    const cart = await fetch(checkoutUrl, { redirect: 'manual' })
    const token = cart.headers.get('location')?.split('/').at(-1)
    const checkouts = await onPlatform<{ token: string; lines: Line[] }[]>('/sandbox/checkouts')
    const lines = withLines?.(checkouts.find(one => one.token === token)?.lines ?? [])
    await onPlatform(`/sandbox/checkouts/${token}/pay`, lines ? { lines } : {})
    await world.told()
  }

  const place = (username: string, { plan, options, quantity, rules: names }: Choice): Promise<Placed> =>
    as(username).call<Placed>('POST', '/api/orders/checkout', {
      product_id: known(plans, plan),
      quantity,
      option_selected: {
        ...Object.fromEntries(options.map((option, at) => [`option${at + 1}`, option])),
        acl_selected: names.map(name => known(rules, name))
      }
    })

  return {
    as,
    admin,
    idOf,
    logIn,

    /** Opens browsers for the accounts that exist from the start. */
    openKnown(): void {
      open({ username: DEMO_ADMIN.username, ip: '192.0.2.2', browser: 'mac' })
      open({ username: DEMO_CUSTOMER.username, ip: '203.0.113.77', browser: 'linux' })
    },

    /** Signs up with a mailed code, like the sign-up page. */
    async signUp(person: Person): Promise<void> {
      const { username, email, language = 'en', invitedBy } = person
      const browser = open(person)
      const invite_code = invitedBy
        ? (await as(invitedBy).call<{ invite_code: string }>('GET', '/api/users/invite_code')).invite_code
        : undefined
      const asked = { email, type: 'register', language }
      const { email_code_id } = await browser.call<{ email_code_id: string }>(
        'POST',
        '/api/users/email_validate',
        asked
      )
      timeline.at(clock.now().getTime() + 30_000, async () => {
        const form = { username, email, language, email_code_id, email_code: mailbox.codeFor(email), invite_code }
        const passwords = { password: PEOPLES_PASSWORD, repassword: PEOPLES_PASSWORD }
        const user = await browser.call<CurrentUser>('POST', '/api/users/u/', { ...form, ...passwords })
        ids.set(username, user.id)
      })
    },

    /** Places an order without paying. */
    place,

    /**
     * Places an order and pays it some minutes later.
     * @param code a discount code entered at the checkout
     * @param withLines the lines paid for instead of the cart
     * @param whenPaid called with the order's id after the payment
     */
    async buy(
      username: string,
      choice: Choice,
      {
        code,
        withLines,
        whenPaid
      }: {
        code?: string
        withLines?: (lines: Line[]) => Line[]
        whenPaid?: (orderId: number, paidAt: number) => void
      } = {}
    ): Promise<void> {
      const { id, checkout_url } = await place(username, choice)
      timeline.at(clock.now().getTime() + (0.6 + random() * 3) * MINUTE, async () => {
        const url = new URL(checkout_url)
        if (code) url.searchParams.set('discount', [url.searchParams.get('discount'), code].filter(Boolean).join(','))
        await pay(url.href, withLines)
        whenPaid?.(id, clock.now().getTime())
      })
    },

    /** Opens a renewal's checkout, and pays it after a delay. */
    async renew(username: string, orderId: number, after = MINUTE): Promise<void> {
      const path = `${ORDERS}/${orderId}/order-renew-checkout/`
      const { checkout_url } = await as(username).call<{ checkout_url: string }>('POST', path)
      timeline.at(clock.now().getTime() + after, () => pay(checkout_url))
    },

    /** An action of an order's buttons. */
    onOrder: (username: string, orderId: number, what: string, body?: object): Promise<unknown> =>
      as(username).call('POST', `${ORDERS}/${orderId}/${what}/`, body),

    /** Refunds an order completely, with the plan shown in the console. */
    async refund(username: string, orderId: number): Promise<void> {
      const path = `${ORDERS}/${orderId}/refund/`
      const { version } = await as(username).call<RefundPlan>('GET', path)
      await as(username).call('POST', path, { version })
    },

    order: (orderId: number): Promise<Order> => admin().call<Order>('GET', `${ORDERS}/${orderId}/`),

    /** Creates a discount code on the platform. */
    addDiscount: (code: string, value: string) =>
      onPlatform('/sandbox/discounts', { code, type: 'fixed_amount', value }),

    /** Sends a ticket, with the answer to its captcha. */
    async sendTicket(
      browser: Browser,
      form: { username: string; email: string; phone: string; message: string }
    ): Promise<void> {
      const { captcha_id } = await browser.call<{ captcha_id: string }>('GET', '/api/auth/captcha')
      const [picture] = await ctx.db.select().from(captchas).where(eq(captchas.id, captcha_id))
      await browser.call('POST', '/api/tickets/ticket/', { ...form, captcha_id, captcha: picture?.answer })
    }
  }
}

export type Acts = Awaited<ReturnType<typeof createActs>>

function known<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const found = map.get(key)
  if (found === undefined) throw new Error(`The history knows no ${String(key)}`)
  return found
}
