import { sql } from 'drizzle-orm'
import type { Executor } from './client.ts'

/**
 * The first number of every advisory lock of the shop; the second one is the row's id, or the hash of a text. A purpose
 * without a number of its own here could make two unrelated things wait for each other.
 */
export const LOCKS = {
  /** Who talks to a server's agent. Key: the server. A session lock, see fleet/lock.ts. */
  serverAgent: 7300,
  /** Shared by who leases or releases, alone for who changes ranges or rules. Taken by inventory.share and own (migrations). */
  inventory: 7301,
  /** Who fills a chunk of addresses. Key: the chunk. Taken by inventory.reserve (migrations). */
  inventoryChunk: 7302,
  /** Counts one customer's unpaid orders, and looks up its checkout keys. Key: the user. */
  customerOrders: 7303,
  /** Who installs a server over SSH. Key: the server. A session lock, see fleet/lock.ts. */
  serverProvisioning: 7304,
  /** Compares lists of clients with those of other orders, and writes them or the addresses that they are for. */
  clientLists: 7316,
  settings: 7305,
  firstAdmin: 7306,
  /** Codes for one mail address. Key: the address. */
  emailCodeAddress: 7307,
  /** Codes for one client. Key: the network. */
  emailCodeClient: 7308,
  /** Tickets of one client. Key: the network. */
  ticketClient: 7309,
  /** A code may be a gift card's, a promo code's or a level's, not two of them. */
  rewardCodes: 7310,
  /** Key: the user. */
  preferences: 7311,
  /** Folds the deltas of the orders' figures. */
  orderFigures: 7312,
  /** Starts bulk runs. Key: who asks for one. */
  bulkRuns: 7313,
  /** What happens to the money of one order of the platform: payment, refund, application. Key: the platform's id. */
  platformOrder: 7314,
  /** Counts how often something is asked for. Key: what, and who asks. */
  asks: 7315,
  /** Who counts refused webhooks of the platform. */
  refusedWebhooks: 7317,
  /** Who opens, changes or ends notices, and says when they are told. */
  notices: 7340,
  /** Only one sync of collections or tags at a time. */
  catalogSync: 7320,
  /** Writes prices to the platform: from the check of what is saved until it is. A session lock, see session-lock.ts. */
  platformPrices: 7321,
  /** Makes a variant of the platform a rule or a plan. Key: the variant. */
  platformVariant: 7324,
  /** Asks the platform for the next access token. A session lock, see commerce/token.ts. */
  platformToken: 7322,
  /** Starts syncs with the platform. Key: what is taken over. */
  syncRuns: 7323,
  /** Counts one owner's webhook endpoints. Key: the user; 0: the operators. */
  webhookEndpoints: 7330
} as const

export type Lock = keyof typeof LOCKS

/** Takes a lock until the transaction ends; waits for whoever has it. */
export async function lock(tx: Executor, name: Lock, key: number | string = 0): Promise<void> {
  const second = typeof key === 'number' ? sql`${key}::int` : sql`hashtext(${key})`
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS[name]}::int, ${second})`)
}
