import { sql } from './drizzle.ts'
import type { Executor } from './client.ts'

/** First numbers of advisory locks, one for each purpose. The second is a row's id or the hash of a text. */
export const LOCKS = {
  /** Talks to a server's agent. Key: the server. A session lock, see domains/servers/server-row.ts. */
  serverAgent: 7300,
  /** Shared by leases, exclusive for changes of ranges or rules. Taken by `inventory.share` and `inventory.own`. */
  inventory: 7301,
  /** Fills a chunk of addresses. Key: the chunk. Taken by `inventory.reserve`. */
  inventoryChunk: 7302,
  /** Counts a customer's unpaid orders and looks up its checkout keys. Key: the user. */
  customerOrders: 7303,
  /** Installs a server over SSH. Key: the server. A session lock, see domains/servers/server-row.ts. */
  serverProvisioning: 7304,
  /** Compares an order's clients with those of other orders, and writes them or their addresses. */
  clientLists: 7316,
  settings: 7305,
  firstAdmin: 7306,
  /** Codes for one mail address. Key: the address. */
  emailCodeAddress: 7307,
  /** Codes for one client. Key: the network. */
  emailCodeClient: 7308,
  /** Tickets of one client. Key: the network. */
  ticketClient: 7309,
  /** Keeps a code from being used for two of gift card, promo code and level. */
  rewardCodes: 7310,
  /** Key: the user. */
  preferences: 7311,
  /** Adds up the deltas of the order figures. */
  orderFigures: 7312,
  /** Starts bulk runs. Key: the user who requests one. */
  bulkRuns: 7313,
  /** Changes the money of one platform order: payment, refund, application. Key: the platform's id. */
  platformOrder: 7314,
  /** Counts requests against a limit. Key: what is requested, and by whom. */
  asks: 7315,
  /** Counts refused webhooks of the platform. */
  refusedWebhooks: 7317,
  /** Opens, changes and ends notices, and schedules their messages. */
  notices: 7340,
  /** One sync of collections or tags at a time. */
  catalogSync: 7320,
  /** Writes prices to the platform, from the check until they are saved. A session lock, see session-lock.ts. */
  platformPrices: 7321,
  /** Makes a platform variant a rule or a plan. Key: the variant. */
  platformVariant: 7324,
  /** Requests the next access token of the platform. A session lock, see domains/commerce/token.ts. */
  platformToken: 7322,
  /** Starts syncs with the platform. Key: what is synced. */
  syncRuns: 7323,
  /** Counts one owner's webhook endpoints. Key: the user; 0 for the operators. */
  webhookEndpoints: 7330
} as const

export type Lock = keyof typeof LOCKS

/** Takes a lock until the transaction ends, and waits if it is taken. */
export async function lock(tx: Executor, name: Lock, key: number | string = 0): Promise<void> {
  const second = typeof key === 'number' ? sql`${key}::int` : sql`hashtext(${key})`
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS[name]}::int, ${second})`)
}
