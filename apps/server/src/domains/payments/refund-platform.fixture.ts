import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A refund that the platform made, with the id that it gave it. */
export type RefundMade = {
  platformOrderId: string
  amount: string
  id: number
  status: 'SUCCESS' | 'PENDING' | 'FAILURE'
}

/** How the platform answers a refund request. `before`: runs between the refund and its answer. */
export type RefundReplies = {
  /** `fails_inside`: it makes nothing and refuses the key from then on. `keys_fail`: it refuses every key so. */
  as: 'whole' | 'half' | 'error' | 'refused' | 'inactive' | 'fails_inside' | 'keys_fail'
  before?: ((made: RefundMade) => Promise<void>) | undefined
  /** It does not answer what became of a refund. */
  outcomesAreAway?: boolean
  /** It does not say how an order was paid, which is asked before a refund of it. */
  paymentsAreAway?: boolean
  /** Orders were paid by a manual method, such as a bank deposit. */
  areManual?: boolean
  /** What happens between that question and its answer. */
  beforePayments?: (() => Promise<unknown>) | undefined
  /** What happens once it has answered the next question about an order or a refund. */
  afterReading?: (() => void) | undefined
}

/** As at the start, for `Object.assign`. */
export const WHOLE_REPLIES = {
  as: 'whole',
  before: undefined,
  outcomesAreAway: false,
  paymentsAreAway: false,
  areManual: false,
  beforePayments: undefined,
  afterReading: undefined
} satisfies RefundReplies

type KnownOrder = { updatedAt: string } & Record<string, unknown>

/** What its API returns for orders that a test set, by id, and its disputes. `isAway`: it answers nothing. */
export type PlatformOrders = { known: Map<string, KnownOrder>; disputes: object[]; isAway: boolean; asked: number }

type Asked = {
  query: string
  variables: {
    id?: string
    key?: string
    query?: string
    input?: { orderId: string; transactions: { amount: string }[] }
  }
}

const idOf = (gid = ''): string => gid.replace('gid://shopify/Order/', '')

/** Orders that changed since the instant of a search, oldest change first. */
function changedSince(known: PlatformOrders['known'], query = ''): object[] {
  const since = Date.parse(/^updated_at:>='(.+)'$/.exec(query)?.[1] ?? '')
  const changedAt = ({ updatedAt }: KnownOrder) => Date.parse(updatedAt)
  return [...known.values()]
    .filter(order => changedAt(order) >= since)
    .toSorted((one, other) => changedAt(one) - changedAt(other))
}

const errorOf = (message: string): string =>
  JSON.stringify({ data: { refundCreate: { refund: null, userErrors: [{ field: null, message }] } } })

let lastId = 880_000

/** A platform that knows every order and makes every refund. It reports nothing: the test does. */
export async function startRefundPlatform() {
  const made: RefundMade[] = []
  const ids = new Map<string, number>()
  const failedKeys = new Set<string>()
  const inputs = new Map<string, string>()
  const replies: RefundReplies = { as: 'whole' }
  const orders: PlatformOrders = { known: new Map(), disputes: [], isAway: false, asked: 0 }
  const answer = async (asked: string): Promise<string> => {
    const { query, variables } = JSON.parse(asked) as Asked
    const { input, key = '' } = variables
    const sale = {
      id: 'gid://shopify/OrderTransaction/1',
      kind: 'SALE',
      status: 'SUCCESS',
      gateway: 'test',
      manualPaymentGateway: replies.areManual === true
    }
    if (input && replies.as === 'refused') return errorOf('Not now')
    if (input && replies.as === 'inactive')
      return JSON.stringify({ errors: [{ message: 'Inactive', extensions: { code: 'SHOP_INACTIVE' } }] })
    if (input && (failedKeys.has(key) || replies.as === 'keys_fail'))
      return errorOf('A previous request with this idempotency key failed. Retry with a new idempotency key.')
    if (input && replies.as === 'fails_inside') {
      failedKeys.add(key)
      return JSON.stringify({ errors: [{ message: 'Internal', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] })
    }
    const text = JSON.stringify(input)
    if (input && (inputs.get(key) ?? text) !== text)
      return errorOf('The same idempotency key cannot be used with different operation parameters.')
    if (input && !ids.has(key)) {
      inputs.set(key, text)
      const one = {
        platformOrderId: idOf(input.orderId),
        amount: input.transactions[0]?.amount ?? '',
        id: (lastId += 1),
        status: 'SUCCESS' as const
      }
      ids.set(key, one.id)
      made.push(one)
      await replies.before?.(one)
    }
    const isPaid = query.includes('query OrderTransactions(')
    if (isPaid) await replies.beforePayments?.()
    const isReading = query.includes('query Order(')
    const isFate = query.includes('query RefundStatus(')
    if (isReading) orders.asked += 1
    const isListing = query.includes('query Orders(') || query.includes('query Disputes(')
    const listed = {
      nodes: changedSince(orders.known, variables.query),
      pageInfo: { hasNextPage: false, endCursor: null }
    }
    const there = orders.known.get(idOf(variables.id))
    const open = there?.['displayFinancialStatus'] === 'PENDING' ? { ...sale, status: 'PENDING' } : sale
    const order = isReading ? (there ?? null) : { transactions: there?.['transactions'] ?? [open] }
    const known = made.find(({ id }) => variables.id === `gid://shopify/Refund/${id}`)
    const money = { amount: known?.amount }
    const amountSet = { shopMoney: money, presentmentMoney: { ...money, currencyCode: 'USD' } }
    const status = known
      ? { transactions: { nodes: [{ id: 'gid://shopify/OrderTransaction/2', status: known.status, amountSet }] } }
      : null
    const refund = { id: `gid://shopify/Refund/${ids.get(key)}` }
    const data = input
      ? { refundCreate: { refund, userErrors: [] } }
      : isListing
        ? { orders: listed, disputes: { ...listed, nodes: orders.disputes } }
        : { order, refund: status }
    const isAway =
      (isReading && orders.isAway) || (isPaid && replies.paymentsAreAway) || (isFate && replies.outcomesAreAway)
    const broken = input ? replies.as : isAway ? 'error' : 'whole'
    const timeout = {
      message: 'Timeout',
      ...(input ? { path: ['refundCreate'], extensions: { code: 'TIMEOUT' } } : {})
    }
    const reply = JSON.stringify(broken === 'error' ? { errors: [timeout] } : { data })
    if (isReading || isFate) {
      replies.afterReading?.()
      replies.afterReading = undefined
    }
    return broken === 'half' ? reply.slice(0, reply.length / 2) : reply
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      void answer(Buffer.concat(chunks).toString('utf8')).then(text =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(text)
      )
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    made,
    replies,
    orders,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}
