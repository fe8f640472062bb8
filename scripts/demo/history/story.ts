import type { Incident, OutageEntry, Page, StatusPage, User } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { proxyChecksOf } from '../../../apps/server/src/domains/delivery/index.ts'
import { servers } from '../../../apps/server/src/domains/servers/tables.ts'
import { sampleStatus } from '../../../apps/server/src/domains/status/index.ts'
import { DAY, HOUR, MINUTE } from '../../../apps/server/src/infra/clock.ts'
import { DEMO_ADMIN, DEMO_CUSTOMER } from '../demo-texts.ts'
import type { Acts, Choice } from './acts.ts'
import { PEOPLES_PASSWORD, SUPPORTER, people, savedReplies, tickets } from './people.ts'
import { times } from './timeline.ts'
import type { World } from './world.ts'

/** Length of the history in days. */
export const DAYS = 11

/** 30-day orders bought, paid and delivered per day, the last day first. */
const A_DAY = [2, 1, 1, 2, 1, 1, 1, 1, 1, 1]

/** Time between two checks of the servers; a minute in a running shop. */
const EACH_LOOK = 3 * HOUR

/** Scheduled jobs that the history needs regularly. */
const REGULARLY = ['expire-orders', 'end-graces', 'remind-expiries', 'fold-order-figures']

/** Jobs that must have run shortly before the end, so that none appears overdue. */
const LATELY = [
  'read-platform-products',
  'read-platform-prices',
  'reconcile-payments',
  'reconcile-disputes',
  'check-servers',
  'time-out-orders'
]

/** Puts the whole story on the timeline: sign-ups, purchases, renewals, tickets and operators' actions. */
export function tellStory(world: World, acts: Acts, end: Date): void {
  const { ctx, timeline, random } = world
  const choose = chooser(random)
  const ago = (days: number) => end.getTime() - days * DAY
  const at = (days: number, act: () => Promise<unknown>) => timeline.at(ago(days), act)
  const shopDoes = (time: number, ...jobs: string[]) => timeline.tick(ctx, time, jobs)

  accounts()
  monthlyOrders()
  weeklyOrders()
  unpaidOrders()
  troubles()
  rewards()
  conversations()
  for (const time of times(ago(DAYS) + HOUR, end.getTime() - 3 * MINUTE, EACH_LOOK)) watch(time)
  for (const time of times(ago(DAYS - 3), end.getTime(), 12 * HOUR)) shopDoes(time, ...REGULARLY)
  shopDoes(end.getTime() - 2 * MINUTE, ...LATELY, ...REGULARLY)

  function accounts(): void {
    at(DAYS - 0.02, async () => {
      acts.openKnown()
      await acts.logIn(DEMO_ADMIN.username, DEMO_ADMIN.password)
      await acts.logIn(DEMO_CUSTOMER.username, DEMO_CUSTOMER.password)
    })
    for (const person of [SUPPORTER, ...people]) {
      at(person.joined, () => acts.signUp(person))
      const again = person.joined * random() * 0.9
      if (random() < 0.25) at(again, () => acts.logIn(person.username, PEOPLES_PASSWORD))
    }
    at(10.8, async () => {
      const rights = { is_superuser: true, operator_role: 'support' }
      await acts.admin().call('PUT', `/api/users/u/${acts.idOf(SUPPORTER.username)}/`, rights)
    })
    at(10.75, () => acts.logIn(SUPPORTER.username, PEOPLES_PASSWORD))
    at(6.3, () => {
      const form = { name: 'rank tracker', scopes: ['read'], password: PEOPLES_PASSWORD }
      return acts.as('duarte').call('POST', '/api/users/api_keys/', form)
    })
  }

  function monthlyOrders(): void {
    const midnight = Math.floor(end.getTime() / DAY) * DAY
    // If the history ends just after midnight, give its last day some hours anyway.
    const today = Math.max(end.getTime() - midnight, 2 * HOUR)
    for (const [daysAgo, count] of A_DAY.entries()) {
      for (let nth = 0; nth < count; nth++) {
        const time =
          daysAgo === 0
            ? end.getTime() - (0.1 + random() * 0.8) * today
            : midnight - daysAgo * DAY + choose.hour() * HOUR
        const who = choose.person((end.getTime() - time) / DAY)
        const choice = choose.monthly()
        timeline.at(time, () => acts.buy(who, choice))
      }
    }
    at(8.2, () => acts.buy(DEMO_CUSTOMER.username, HEARTH))
  }

  /** Buys for a week, and runs the shop's jobs when the week and its grace period are over. */
  function weekly(days: number, who: string, whenPaid?: (orderId: number) => void): void {
    const choice = choose.weekly()
    at(days, () =>
      acts.buy(who, choice, {
        whenPaid(orderId, paidAt) {
          shopDoes(paidAt + 7 * DAY + 2 * MINUTE, 'expire-orders')
          shopDoes(paidAt + 8 * DAY + 4 * MINUTE, 'end-graces')
          whenPaid?.(orderId)
        }
      })
    )
  }

  function weeklyOrders(): void {
    weekly(10.5, 'okafor', id => at(3.9, () => acts.renew('okafor', id)))
    // Renewed in its grace period.
    weekly(8.9, 'osei', id => at(1.5, () => acts.renew('osei', id)))
    // Opened in the grace period and paid after it, so this payment waits in the inbox.
    weekly(9.6, 'kowalski', id => at(2, () => acts.renew('kowalski', id, 0.8 * DAY)))
    weekly(10.3, 'tanaka')
    weekly(7.4, 'duarte')
    for (const [days, who] of ENDING) weekly(days, who)
    weekly(5.1, DEMO_CUSTOMER.username)
  }

  function unpaidOrders(): void {
    for (const days of [8.8, 5.3, 2.9]) {
      const who = choose.person(days)
      const choice = choose.monthly()
      at(days, () => acts.place(who, choice))
      shopDoes(ago(days) + 31 * MINUTE, 'time-out-orders')
    }
    for (const days of [7.1, 1.6]) {
      const who = choose.person(days)
      const choice = choose.monthly()
      at(days, async () => {
        const { id } = await acts.place(who, choice)
        timeline.at(ago(days) + 6 * MINUTE, () => acts.onOrder(who, id, 'cancel'))
      })
    }
    timeline.at(end.getTime() - 8 * MINUTE, () => acts.place('silva', METRO_BLOCK))
  }

  function troubles(): void {
    const short: NonNullable<Parameters<Acts['buy']>[2]>['withLines'] = lines => lines.slice(0, -1)
    // The shop soon reads the missing parts of these payments from the platform.
    for (const days of [8.3, 1.2, 0.28]) shopDoes(ago(days) + 12 * MINUTE, 'reconcile-payments')
    // One rule is missing in the cart: an operator delivers the first order anyway, the second one waits.
    at(8.3, () =>
      acts.buy('brandt', METRO_BLOCK, {
        withLines: short,
        whenPaid: id => at(8.25, () => acts.onOrder(DEMO_ADMIN.username, id, 'devery_order'))
      })
    )
    at(0.28, () => acts.buy('ferrari', METRO_BLOCK, { withLines: short }))
    at(4.75, () => acts.buy('novak', HARBOR, { whenPaid: id => at(4.25, () => acts.refund(DEMO_ADMIN.username, id)) }))
    at(7.9, () =>
      acts.buy('tanaka', METRO_BLOCK, {
        whenPaid: id => at(5.5, () => acts.onOrder(DEMO_ADMIN.username, id, 'reset_proxy'))
      })
    )
    at(5.8, () =>
      acts.buy('kowalski', HEARTH, {
        whenPaid: id => at(3.1, () => acts.onOrder('kowalski', id, 'reset_proxy_password'))
      })
    )
    outage(ago(4.05))
  }

  /** Checks the servers, also for the status page. Each check stands for all the time since the previous one. */
  function watch(time: number): void {
    shopDoes(time, 'check-servers')
    timeline.at(time, async () => {
      // A busy machine may have answered too late. Check again, because the next check is hours away.
      const silent = await ctx.db.$count(servers, eq(servers.connected, false))
      if (silent > 0) shopDoes(time, 'check-servers')
      timeline.at(time, () => sampleStatus(ctx, proxyChecksOf(ctx.config), { mostMinutes: EACH_LOOK / MINUTE }))
    })
  }

  /** The support team's updates during and after the outage. */
  function incident(start: number): void {
    const path = '/api/status/incidents/'
    const support = () => acts.as(SUPPORTER.username)
    let id = 0
    const say = (minute: number, state: string, text: string) =>
      timeline.at(start + minute * MINUTE, () => support().call('POST', `${path}${id}/updates/`, { state, text }))
    timeline.at(start + 4 * MINUTE, async () => {
      const { locations } = await support().call<StatusPage>('GET', '/api/status/')
      const form = { title: 'Addresses do not answer', severity: 'major', text: 'We are looking into it.' }
      const made = await support().call<Incident>('POST', path, {
        ...form,
        locations: locations.map(location => location.id),
        started_at: new Date(start + MINUTE).toISOString()
      })
      id = made.id
    })
    say(11, 'identified', 'A switch has failed and is being replaced.')
    say(17, 'monitoring', 'The switch is replaced, and all addresses answer again.')
    say(55, 'resolved', 'All has been well for more than half an hour. We are sorry.')
    timeline.at(start + 4 * HOUR, async () => {
      const outages = await support().call<Page<OutageEntry>>('GET', '/api/servers/outages/?limit=1')
      const outage = outages.data[0]?.id
      await support().call('POST', `/api/servers/outages/${outage}/name_incident/`, { incident_id: id })
    })
  }

  /** The server is down for 15 minutes. The order paid in that time is delivered late and gets a day of credit. */
  function outage(start: number): void {
    watch(start - MINUTE)
    timeline.at(start, () => world.agent.stop())
    incident(start)
    for (let minute = 1; minute < 17; minute++) {
      watch(start + minute * MINUTE)
      shopDoes(start + minute * MINUTE, 'sweep-deliveries')
    }
    timeline.at(start + 15.5 * MINUTE, () => world.agent.start())
    timeline.at(start + 5 * MINUTE, () =>
      acts.buy('mbeki', METRO_BLOCK, {
        whenPaid: id =>
          timeline.at(start + 5 * HOUR, async () => {
            const { expired_at } = await acts.order(id)
            const form = { days: 1, note: 'The server was away while this order was delivered.', ends_at: expired_at }
            await acts.onOrder(DEMO_ADMIN.username, id, 'credit', form)
          })
      })
    )
  }

  function rewards(): void {
    const admin = () => acts.admin()
    const coupon = (username: string, code: string) => async () => {
      await admin().call('POST', '/api/rewards/coupon_code/', { username, code, discount: '5.00', code_type: 1 })
      await acts.addDiscount(code, '5.00')
    }
    at(8.1, coupon('lindqvist', 'THANKS-SARA'))
    at(7.6, () => acts.buy('lindqvist', HARBOR, { code: 'THANKS-SARA' }))
    at(1.9, coupon('petrov', 'WELCOME-PETROV'))
    at(6.5, async () => {
      const path = `/api/users/u/${acts.idOf('okafor')}/`
      const { version } = await admin().call<User>('GET', path)
      await admin().call('PUT', path, { reward_points_change: 600, version })
    })
    at(5.7, async () => {
      const form = { mount: '5.00', point: 500 }
      const { code } = await acts.as('okafor').call<{ code: string }>('POST', '/api/rewards/gift_card/exchange/', form)
      await acts.addDiscount(code, '5.00')
      at(5.2, () => acts.buy('okafor', HARBOR, { code }))
    })
    at(2.2, async () => {
      const faq = {
        question: 'Can I pay for several months at once?',
        answer: 'Yes: renew as often as you like. Each renewal adds its term to the end of the order.'
      }
      await admin().call('POST', '/api/tickets/fqa/', faq)
    })
  }

  function conversations(): void {
    at(8.9, async () => {
      for (const reply of savedReplies)
        await acts.as(SUPPORTER.username).call('POST', '/api/tickets/saved_reply/', reply)
    })
    const open = world.browser({ ip: '192.0.2.240', userAgent: 'Mozilla/5.0', language: 'en' })
    for (const [nth, { sent, from, phone, message, answer, more, closed }] of tickets.entries()) {
      const person = people.find(({ username }) => username === from)
      at(sent, async () => {
        const sender =
          typeof from === 'string'
            ? { username: from, email: person?.email ?? '' }
            : { username: from.name, email: from.email }
        await acts.sendTicket(person ? acts.as(person.username) : open, { ...sender, phone, message })
      })
      const path = `/api/tickets/ticket/${nth + 1}`
      if (answer)
        at(sent - answer.after, () => acts.as(answer.by).call('POST', `${path}/answer/`, { answer: answer.text }))
      if (answer && more && person) {
        const operator = () => acts.as(answer.by)
        at(sent - more.after, () =>
          acts.as(person.username).call('POST', `/api/tickets/own/${nth + 1}/message/`, { text: more.message })
        )
        at(sent - more.after - 0.1, () => operator().call('POST', `${path}/note/`, { text: more.note }))
        at(sent - more.after - 0.2, () => operator().call('POST', `${path}/answer/`, { answer: more.text }))
      }
      if (answer && closed) at(sent - answer.after - 0.5, () => acts.as(answer.by).call('POST', `${path}/close/`, {}))
    }
  }
}

/** Buyers of weekly plans in the last seven days, so that their orders end one after another. */
const ENDING: readonly [number, string][] = [
  [6.6, 'haruki'],
  [4.9, 'mbeki'],
  [3.6, 'zhaowei'],
  [2.6, 'oneill'],
  [1.7, 'petrov'],
  [0.8, 'silva']
]

const METRO_BLOCK: Choice = {
  plan: 'Metro ISP',
  options: ['London', 'Block of 8'],
  quantity: 8,
  rules: ['Instagram', 'Google']
}
const HARBOR: Choice = {
  plan: 'Harbor Datacenter',
  options: ['New York', 'Block of 8'],
  quantity: 8,
  rules: ['Google']
}
const HEARTH: Choice = {
  plan: 'Hearth Residential',
  options: ['London', 'Single address'],
  quantity: 1,
  rules: ['Instagram']
}

const LOCATIONS = ['New York', 'London', 'Frankfurt', 'Tokyo'] as const

const monthly: readonly ((pick: Pick) => Choice)[] = [
  pick => ({
    plan: 'Metro ISP',
    options: [pick(LOCATIONS), 'Single address'],
    quantity: pick([1, 1, 2, 3, 5]),
    rules: [pick(['Instagram', 'Google', 'Amazon'])]
  }),
  pick => ({
    plan: 'Metro ISP',
    options: [pick(LOCATIONS), 'Block of 8'],
    quantity: 8,
    rules: pick([['Instagram', 'Google'], ['Amazon'], ['Steam', 'Walmart']])
  }),
  pick => ({
    plan: 'Drop Day ISP',
    options: [pick(['New York', 'London']), 'Block of 8', '30 days'],
    quantity: 8,
    rules: pick([['Nike'], ['Nike', 'Ticketmaster']])
  }),
  pick => ({
    plan: 'Studio ISP',
    options: [pick(['New York', 'London', 'Tokyo']), 'Single address'],
    quantity: pick([1, 2, 3]),
    rules: ['Netflix']
  }),
  pick => ({
    plan: 'Harbor Datacenter',
    options: [pick(['New York', 'Frankfurt']), pick(['Block of 8', 'Block of 8', 'Block of 16'])],
    quantity: 16,
    rules: ['Google']
  }),
  pick => ({
    plan: 'Arcade Datacenter',
    options: [pick(['London', 'Frankfurt', 'Tokyo']), 'Single address'],
    quantity: pick([1, 2]),
    rules: ['Steam']
  }),
  pick => ({
    plan: 'Hearth Residential',
    options: [pick(['New York', 'London', 'Frankfurt']), 'Single address'],
    quantity: pick([1, 1, 2]),
    rules: pick([['Instagram'], ['Google', 'Amazon']])
  }),
  pick => ({
    plan: 'TestStack Residential',
    options: [pick(['New York', 'Tokyo']), 'Block of 8'],
    quantity: 8,
    rules: pick([['Amazon', 'Walmart'], ['Nike']])
  })
]

const weekly: readonly ((pick: Pick) => Choice)[] = [
  pick => ({
    plan: 'Saturday Residential',
    options: [pick(['London', 'Tokyo']), 'Single address'],
    quantity: pick([1, 2, 4]),
    rules: pick([['Ticketmaster'], ['Netflix'], ['Steam']])
  }),
  pick => ({
    plan: 'Drop Day ISP',
    options: [pick(['New York', 'London']), 'Block of 8', '7 days'],
    quantity: 8,
    rules: ['Nike']
  })
]

type Pick = <T>(from: readonly T[]) => T

/** Random choices from this generator. */
function chooser(random: () => number) {
  const pick: Pick = from => {
    const found = from[Math.floor(random() * from.length)]
    if (found === undefined) throw new Error('There is nothing to choose from')
    return found
  }
  return {
    pick,
    monthly: (): Choice => pick(monthly)(pick),
    weekly: (): Choice => pick(weekly)(pick),
    /** Someone whose account was then some hours old. @param ago days before the end */
    person: (ago: number): string => pick(people.filter(({ joined }) => joined > ago + 0.1)).username,
    /** A typical hour for purchases: few at night, most in the afternoon. */
    hour: (): number =>
      pick([1, 6, 7, 8, 9, 10, 11, 12, 13, 13, 14, 14, 15, 15, 16, 17, 18, 19, 20, 21, 22, 23]) + random() * 0.99
  }
}
