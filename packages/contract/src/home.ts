import { z } from 'zod'
import { ADDRESS_FAMILIES } from './address-family.ts'
import { message } from './form-messages.ts'
import type { Permission } from './permissions.ts'
import { route } from './route.ts'
import { Money, Month, storable, Time } from './shapes.ts'
import { ORDER_STATES } from './states.ts'
import { SERVER_STATUSES } from './servers.ts'

/** The steps that a new shop needs before it can sell, in a workable order. */
export const SETUP_STEPS = ['platform', 'mail', 'rule', 'server', 'group', 'product'] as const
export type SetupStep = (typeof SETUP_STEPS)[number]

const Setup = z.array(z.object({ step: z.enum(SETUP_STEPS), done: z.boolean() }))
export type Setup = z.infer<typeof Setup>

/** What can need attention, most urgent first, with the permission to see it. */
export const ATTENTION_ITEMS = {
  undelivered: 'orders.view',
  payments: 'payments.view',
  store_password: 'health.view',
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
    /** The number of rows in its list; null: it could not be read. */
    count: z.number().nullable()
  })
)

const Day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/)
/** Orders placed on a day (UTC), how many are paid, and the day's payments. */
const DaySales = z.object({ day: Day, orders: z.number(), paid: z.number(), revenue: Money })
export type DaySales = z.infer<typeof DaySales>

/** This month until today, and the whole last month. Days without sales have zeros. */
const Sales = z.object({ today: Day, month: z.array(DaySales), before: z.array(DaySales) })
export type Sales = z.infer<typeof Sales>

/** Largest number of groups and rules shown; those with the least stock come first. */
export const STOCK_MAP_SIZE = 40
const Named = z.object({ id: z.number(), name: z.string() })
const StockMap = z.object({
  /** One line per group and family of its ranges. A group without ranges has one line. */
  groups: z.array(Named.extend({ family: z.enum(ADDRESS_FAMILIES) })),
  rules: z.array(Named),
  /** Free IPv4 addresses or IPv6 /64s: a row for each of `groups`, a column for each rule. */
  free: z.array(z.array(z.number())),
  /** How many are left out. */
  more: z.object({ groups: z.number(), rules: z.number() })
})
export type StockMap = z.infer<typeof StockMap>

/** The next days, starting today, and how many served orders end on each (UTC). */
const Endings = z.array(z.object({ day: Day, orders: z.number() }))
export type Endings = z.infer<typeof Endings>

/** Seconds from payment to delivery of the orders delivered in the period; null if none. */
const Span = z.object({ orders: z.number(), p50: z.number().nullable(), p99: z.number().nullable() })
const DeliveryTimes = z.object({
  day: Span,
  week: Span,
  /** The week's slowest. */
  slowest: z.array(z.object({ id: z.number(), order: z.string(), delivered_at: Time, seconds: z.number() }))
})
export type DeliveryTimes = z.infer<typeof DeliveryTimes>

/** Largest number of search results per kind. */
export const FOUND_OF_EACH = 5
/** Characters. No name or number is longer. */
export const SEARCH_LENGTH = 200

/** Search results of a kind. `exact` ones equal the text and come first. */
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
  /** If the text is an address or a written range: the live range that contains it, and its current holder. */
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
    summary: 'Setup steps of a new shop, and which are done',
    access: 'admin',
    permission: 'console.use',
    reply: Setup
  }),
  attention: route('GET', `${H}/attention/`, {
    summary: "What needs attention now, within your role's permissions",
    access: 'admin',
    permission: 'console.use',
    reply: AttentionList
  }),
  sales: route('GET', `${H}/sales/`, {
    summary: 'Sales of this month and last month, by day',
    access: 'admin',
    permission: 'orders.view',
    reply: Sales
  }),
  salesCsv: route('GET', `${H}/sales.csv`, {
    summary: 'Sales of a month (default: the current one) as CSV, by day, product and currency',
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
    summary: 'Delivery times in the last 24 hours and 7 days',
    access: 'admin',
    permission: 'orders.view',
    reply: DeliveryTimes
  }),
  search: route('GET', `${H}/search/`, {
    summary: "Search orders, users, servers, products and holders of an address, within your role's permissions",
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
