/** Replies of a running shop for use in tests, reduced to what they need. */
import type {
  AclRule,
  BulkRun,
  Cidr,
  Collection,
  Coupon,
  CurrentUser,
  Faq,
  GiftCard,
  LevelCode,
  Order,
  OrderTraffic,
  Page,
  Product,
  Server,
  ServerGroup,
  Tag,
  OwnTicket,
  Ticket,
  TicketMessage,
  Traffic,
  ListedUser,
  User,
  Variant
} from '@netlet/contract'

export const customer: CurrentUser = {
  id: 2,
  username: 'alice',
  email: 'alice@example.com',
  discord_id: null,
  discord_name: null,
  is_active: true,
  is_superuser: false,
  operator_role: null,
  reward_points: 120,
  points: 120,
  level: 1,
  level_points: 350,
  invite_code: 'K7Q2M9XA',
  invite_count: 0,
  created_at: '2026-06-01T08:00:00.000Z',
  last_login: '2026-06-15T08:00:00.000Z',
  last_login_time: '2026-06-15T08:00:00.000Z',
  last_login_ip: '203.0.113.7',
  last_location: 'US',
  version: 'kP3xVb0qT9mLw2Za',
  impersonated_by: null,
  pending_points: 0,
  second_factor_due: null,
  must_add_second_factor: false
}

export const admin: CurrentUser = {
  ...customer,
  id: 1,
  username: 'admin',
  email: 'admin@example.com',
  is_superuser: true,
  operator_role: 'owner'
}

const {
  impersonated_by: _by,
  pending_points: _pending,
  second_factor_due: _due,
  must_add_second_factor: _must,
  ...row
} = customer
/** The customer as it appears in user lists. */
/** As a change answers with it. */
export const savedUser: User = row
/** As lists show it. */
export const user: ListedUser = { ...row, second_factors: 0 }

export const server: Server = {
  id: 4,
  name: 'paris',
  ip: '192.0.2.4',
  description: '',
  server_status: 1,
  port: 22,
  has_password: true,
  host_key: { known: null, expected: null, refused: null },
  agent_port: 8443,
  has_certificate: true,
  certificate: { fingerprint: '5A:0B:11', ends_at: '2036-06-15T08:00:00.000Z' },
  proxy_port: 1080,
  cidrs: [],
  groups: [],
  orders: 0,
  leased: 0,
  users: { wanted: 0, confirmed: 0, behind: 0 },
  ranges: { wanted: 1, confirmed: 1 },
  refused_ranges: [],
  agent: null,
  step: 'in step',
  unreachable_since: null,
  failing_since: null,
  status: 'active',
  sells: true,
  last_error: null,
  trouble: null,
  provisioning: null,
  created_at: '2026-06-15T08:00:00.000Z',
  version: 'v4'
}

export const order: Order = {
  id: 7,
  order_id: '20260615-7QK2M9XA',
  order_number: '#1007',
  shopify_order_id: '5500000000007',
  shopify_order_number: '#1007',
  username: 'alice',
  uid: 2,
  email: 'alice@example.com',
  product_id: 1,
  product_name: 'Residential US',
  variant_name: 'New York / /29',
  variant_id: 1,
  label: null,
  note: null,
  product_quantity: 8,
  amount: '12.00',
  pay_amount: '12.00',
  last_amount: '12.00',
  refunded_amount: '0.00',
  pay_status: 1,
  state: 'delivered',
  is_expired: false,
  created_at: '2026-06-15T08:00:00.000Z',
  delivered_at: '2026-06-15T08:01:00.000Z',
  delivery_seconds: 60,
  grace_until: null,
  renewal_days: 30,
  can_reopen: false,
  holds_addresses: true,
  expired_at: '2126-07-15T08:00:00.000Z',
  reset_time: null,
  changes_left: 0,
  changes_per_term: 0,
  resets_per_term: 0,
  resets_left: 10,
  fail_reason: null,
  fail: null,
  acl_selected: '3',
  acl_names: ['Video'],
  proxy_num: 8,
  address_family: 'ipv4',
  egress: 'fixed',
  delivery_num: 8,
  task: null,
  task_done: null,
  task_waits: false,
  task_error: null,
  task_fail: null,
  payment_pending: false,
  checkout_url: null,
  discount: null,
  reserved_until: null
}

/** One page with the whole list. */
export const pageOf = <T>(...data: T[]): Page<T> => ({
  data,
  total: data.length,
  total_exact: true,
  limit: 10,
  offset: 0,
  next: null
})

const nothing = { up: 0, down: 0, requests: 0, connections: 0, refused: 0, failed: 0 }
export const noTraffic: Traffic = {
  by: 'hour',
  steps: [{ at: '2026-06-15T08:00:00.000Z', ...nothing }],
  total: nothing,
  refusals: [],
  errors: [],
  as_of: null
}
export const noOrderTraffic: OrderTraffic = {
  ...noTraffic,
  used: 0,
  allowed: null,
  mbps: null,
  connections: null,
  connections_per_second: null
}

const at = '2026-06-15T08:00:00.000Z'

/** No server group, no limits. */
export const variant: Variant = {
  id: 1,
  variant_name: 'Paris',
  variant_desc: '',
  variant_stock: 64,
  acl_ids: [1, 2],
  from_price: '1.15',
  cart_step: 8,
  variant_price: '1.10',
  is_active: true,
  variant_option1: 'Paris',
  variant_option2: null,
  variant_option3: null,
  server_group: null,
  proxy_time: 30,
  address_family: 'ipv4',
  egress: 'fixed',
  https: false,
  traffic_gb: null,
  mbps: null,
  connections: null,
  connections_per_second: null,
  shopify_variant_id: '1',
  platform_stock: 'none',
  shipped: false,
  price_drift: null
}

export const product: Product = {
  id: 1,
  active: true,
  valid: true,
  unlisted: false,
  unpublished: false,
  subscription_only: false,
  old_flag: false,
  product_name: 'Residential',
  shopify_product_id: '1',
  product_desc: '',
  image_url: null,
  lower_price: '1.10',
  product_collections: [],
  product_tags: [],
  variant_options: [],
  variants: [],
  created_at: at,
  version: 'v1'
}

export const collection: Collection = {
  id: 3,
  collection_name: 'ISP',
  collection_desc: '',
  shopify_collection_id: '300',
  image_url: null,
  product_count: 1,
  version: 'v3'
}

export const tag: Tag = { id: 8, tag_name: 'Fast', tag_desc: '', is_internal: false, version: 'v8' }

export const rule: AclRule = {
  id: 1,
  name: 'Shoes',
  price: '1.50',
  shopify_variant_id: '4400000001',
  description: 'Shoe shops',
  acl_value: 'nike.com',
  unpublished: false,
  subscription_only: false,
  platform_stock: 'none',
  shipped: false,
  created_at: at,
  version: 'v1'
}

export const group: ServerGroup = {
  id: 3,
  name: 'Europe',
  description: 'Machines in Europe',
  servers: [],
  version: 'g3'
}

export const range: Cidr = {
  id: 1,
  cidr: '10.0.1.0/24',
  ip_count: 256,
  exclude_acl: [],
  delivery_count: 0,
  server_ids: [1],
  servers: [{ id: 1, name: 'edge' }],
  created_at: at,
  version: 'v1'
}

/** The platform's state for a code that was checked. */
const present = {
  platform_state: 'present' as const,
  platform_differs: [],
  platform_problem: null,
  platform_checked_at: at
}

export const coupon: Coupon = {
  id: 5,
  holder_username: 'alice',
  username: 'alice',
  code: 'WELCOME',
  code_type: 1,
  discount: '5.00',
  discount_type: 'amount',
  is_used: false,
  created_at: at,
  ...present,
  version: 'v5'
}

export const levelCode: LevelCode = {
  id: 2,
  level: 2,
  discount: '10.00',
  discount_type: 'percent',
  code: 'SILVER10',
  point: 5000,
  ...present,
  version: 'v2'
}

export const giftCard: GiftCard = {
  id: 1,
  mount: '5.00',
  point: 500,
  code: 'CARD-1',
  is_exchanged: false,
  created_at: at,
  ...present,
  version: 'v1'
}

export const faq: Faq = { id: 3, question: 'What is a /29?', answer: 'Eight addresses.', version: 'v1' }

export const ticket: Ticket = {
  id: 4,
  username: 'Ada',
  email: 'ada@example.com',
  phone: '+44 1',
  message: 'Where is my proxy?',
  created_at: at,
  state: 'open',
  language: 'en',
  answer: null,
  answered_by: null,
  answered_at: null,
  mail: null,
  user: null,
  account: null,
  assignee: null,
  waiting_since: at
}

export const ticketMessage: TicketMessage = {
  id: 0,
  author: 'customer',
  by: null,
  text: 'Where is my proxy?',
  created_at: at,
  mail: null
}

export const ownTicket: OwnTicket = {
  id: 4,
  state: 'open',
  created_at: at,
  message: 'Where is my proxy?',
  last: { id: 0, author: 'customer', text: 'Where is my proxy?', created_at: at }
}

export const bulkRun: BulkRun = {
  id: 9,
  action: 'gift_card.delete',
  state: 'running',
  total: 3,
  done: 1,
  succeeded: 1,
  refused: 0,
  username: 'admin',
  created_at: at,
  ended_at: null,
  reason: null,
  params: {},
  msg: null
}
