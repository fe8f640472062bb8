import { z } from 'zod'
import { ADDRESS_FAMILIES } from './address-family.ts'
import { message } from './form-messages.ts'
import type { Permission } from './permissions.ts'
import { route } from './route.ts'
import { Money, Month, storable, Time } from './shapes.ts'
import { ORDER_STATES } from './states.ts'
import { SERVER_STATUSES } from './servers.ts'

/** What a new shop needs before it can sell, in the order in which one can do it. */
export const SETUP_STEPS = ['platform', 'mail', 'rule', 'server', 'group', 'product'] as const
export type SetupStep = (typeof SETUP_STEPS)[number]

const Setup = z.array(z.object({ step: z.enum(SETUP_STEPS), done: z.boolean() }))
export type Setup = z.infer<typeof Setup>

/** What can need attention, the most urgent first, with what one has to be allowed in order to see it. */
export const ATTENTION_ITEMS = {
  undelivered: 'orders.view',
  payments: 'payments.view',
  webhooks: 'health.view',
  late_events: 'health.view',
  servers: 'servers.view',
  upgrades: 'servers.view',
  abuse: 'addresses.view',
  proofs: 'addresses.view',
  dead_letters: 'tasks.view',
  mails: 'mails.view',
  notices: 'notices.view',
  prices: 'products.view',
  stock: 'products.view',
  tickets: 'tickets.view'
} as const satisfies Record<string, Permission>
export type AttentionItem = keyof typeof ATTENTION_ITEMS

const AttentionList = z.array(
  z.object({
    what: z.enum(Object.keys(ATTENTION_ITEMS) as [AttentionItem, ...AttentionItem[]]),
    /** How many rows its list has; null: it could not be read. */
    count: z.number().nullable()
  })
)

const Day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/)
/** Orders placed on a day (UTC), how many of them are paid, and what payments of the day brought. */
const DaySales = z.object({ day: Day, orders: z.number(), paid: z.number(), revenue: Money })
export type DaySales = z.infer<typeof DaySales>

/** The month until today, and the whole month before it; a day without sales is there with zeros. */
const Sales = z.object({ today: Day, month: z.array(DaySales), before: z.array(DaySales) })
export type Sales = z.infer<typeof Sales>

/** So many groups and rules are shown at most: those with the least stock. */
export const STOCK_MAP_SIZE = 40
const Named = z.object({ id: z.number(), name: z.string() })
const StockMap = z.object({
  /** A group has a line for each family that it has ranges of; one without ranges has one. */
  groups: z.array(Named.extend({ family: z.enum(ADDRESS_FAMILIES) })),
  rules: z.array(Named),
  /** Free IPv4 addresses, or IPv6 /64s: a line for each of `groups`, a figure for each rule. */
  free: z.array(z.array(z.number())),
  /** How many are left out. */
  more: z.object({ groups: z.number(), rules: z.number() })
})
export type StockMap = z.infer<typeof StockMap>

/** Days, beginning with today, and how many orders that are served end on each (UTC). */
const Endings = z.array(z.object({ day: Day, orders: z.number() }))
export type Endings = z.infer<typeof Endings>

/** Seconds from paid to delivered, of orders that were delivered in the time; null where there were none. */
const Span = z.object({ orders: z.number(), p50: z.number().nullable(), p99: z.number().nullable() })
const DeliveryTimes = z.object({
  day: Span,
  week: Span,
  /** Those of the week that took longest. */
  slowest: z.array(z.object({ id: z.number(), order: z.string(), delivered_at: Time, seconds: z.number() }))
})
export type DeliveryTimes = z.infer<typeof DeliveryTimes>

/** Of each kind the console's search finds so many rows at most. */
export const FOUND_OF_EACH = 5
/** Characters; longer than any name or number that is searched for. */
export const SEARCH_LENGTH = 200

/** What the search finds of a kind: `exact` where a name or number is the text itself, which come first. */
const found = <S extends z.ZodRawShape>(shape: S) => z.array(z.object({ id: z.number(), ...shape, exact: z.boolean() }))
const Found = z.object({
  orders: found({
    order_id: z.string(),
    product_name: z.string(),
    username: z.string(),
    state: z.enum(ORDER_STATES)
  }),
  users: found({ username: z.string(), email: z.string() }),
  servers: found({ name: z.string(), ip: z.string(), status: z.enum(SERVER_STATUSES) }),
  products: found({ product_name: z.string(), active: z.boolean() }),
  /** Where the text is an address or a range, as it is written there: the live range that has it, and who holds it now. */
  address: z
    .object({
      address: z.string(),
      range: z.object({ id: z.number(), cidr: z.string() }).nullable(),
      holders: z.array(z.object({ id: z.number(), order_id: z.string(), username: z.string() }))
    })
    .nullable()
})
export type Found = z.infer<typeof Found>

const H = '/api/home'

export const home = {
  setup: route('GET', `${H}/setup/`, {
    summary: 'Which steps are done that a new shop needs before it can sell',
    access: 'admin',
    permission: 'console.use',
    reply: Setup
  }),
  attention: route('GET', `${H}/attention/`, {
    summary: 'What needs attention now, as far as the role of who asks may see it',
    access: 'admin',
    permission: 'console.use',
    reply: AttentionList
  }),
  sales: route('GET', `${H}/sales/`, {
    summary: 'Sales of this month and of the month before, by day',
    access: 'admin',
    permission: 'orders.view',
    reply: Sales
  }),
  salesCsv: route('GET', `${H}/sales.csv`, {
    summary: 'Sales of a month (the present one) as CSV, by day, product and currency',
    access: 'admin',
    permission: 'orders.view',
    query: z.object({ in_month: Month.optional() }),
    reply: z.string(),
    raw: 'text/csv'
  }),
  stock: route('GET', `${H}/stock/`, {
    summary: 'Free addresses by server group and access rule',
    access: 'admin',
    permission: 'servers.view',
    reply: StockMap
  }),
  endings: route('GET', `${H}/endings/`, {
    summary: 'How many orders end on each of the next 14 days',
    access: 'admin',
    permission: 'orders.view',
    reply: Endings
  }),
  deliveries: route('GET', `${H}/deliveries/`, {
    summary: 'How long deliveries took in the last 24 hours and 7 days',
    access: 'admin',
    permission: 'orders.view',
    reply: DeliveryTimes
  }),
  search: route('GET', `${H}/search/`, {
    summary:
      'Orders, users, servers, products and the holders of an address by a text, as far as the role may see them',
    access: 'admin',
    permission: 'console.use',
    query: z.object({
      q: z
        .string()
        .trim()
        .min(1, message('enter_search'))
        .max(SEARCH_LENGTH, message('at_most_characters', { max: SEARCH_LENGTH }))
        .refine(storable, message('forbidden_character'))
    }),
    reply: Found
  })
}
