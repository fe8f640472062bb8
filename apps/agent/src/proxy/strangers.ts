import { clientKey } from './login-guard.ts'

type Stranger = { readonly clientText: string; stranger: ListNode | null; destroy(): void }
/** A connection's place in two linked lists: of all strangers, and of its client's. */
export type ListNode = {
  readonly connection: Stranger
  readonly of: OfClient
  older: ListNode | null
  younger: ListNode | null
  olderOf: ListNode | null
  youngerOf: ListNode | null
}
type OfClient = { count: number; oldest: ListNode | null; youngest: ListNode | null }

/** Connections that have not logged in, oldest first, of all clients and of each. Linked, because all connections pass through. */
export class Strangers {
  #oldest: ListNode | null = null
  #youngest: ListNode | null = null
  /** An empty client stays until `tidy`, because most clients soon connect again. */
  readonly #clients = new Map<string, OfClient>()

  add(connection: Stranger): void {
    const key = clientKey(connection.clientText)
    let of = this.#clients.get(key)
    if (of === undefined) this.#clients.set(key, (of = { count: 0, oldest: null, youngest: null }))
    const node: ListNode = {
      connection,
      of,
      older: this.#youngest,
      younger: null,
      olderOf: of.youngest,
      youngerOf: null
    }
    if (node.older === null) this.#oldest = node
    else node.older.younger = node
    if (node.olderOf === null) of.oldest = node
    else node.olderOf.youngerOf = node
    this.#youngest = of.youngest = node
    of.count++
    connection.stranger = node
  }

  /** @returns whether it was a stranger */
  delete(connection: Stranger): boolean {
    const node = connection.stranger
    if (node === null) return false
    connection.stranger = null
    const { of, older, younger, olderOf, youngerOf } = node
    if (older === null) this.#oldest = younger
    else older.younger = younger
    if (younger === null) this.#youngest = older
    else younger.older = older
    if (olderOf === null) of.oldest = youngerOf
    else olderOf.youngerOf = youngerOf
    if (youngerOf === null) of.youngest = olderOf
    else youngerOf.olderOf = olderOf
    of.count--
    return true
  }

  countOf(client: string): number {
    return this.#clients.get(clientKey(client))?.count ?? 0
  }

  oldest(client?: string): Stranger | undefined {
    if (client === undefined) return this.#oldest?.connection
    return this.#clients.get(clientKey(client))?.oldest?.connection
  }

  /** Removes empty clients. Called with each sweep. */
  tidy(): void {
    for (const [key, { count }] of this.#clients) if (count === 0) this.#clients.delete(key)
  }
}

/** Log lines between two sweeps. */
type Most = { ofEach: number; ofAll: number }

/** By client, for clients that have not logged in. */
export const STRANGERS: Most = { ofEach: 20, ofAll: 50 }
/** By user, for refused requests and targets that were not reached. */
export const REFUSALS: Most = { ofEach: 100, ofAll: Infinity }

/** Keeps cheap lines from rotating the access log away, because the log is the evidence of what customers did. */
export class LineLimit {
  readonly #most: Most
  #written = new Map<string, number>()
  #all = 0
  #leftOut = new Map<string, number>()

  constructor(most: Most) {
    this.#most = most
  }

  /** Whether a line of `one` may be written. @param user counts the omitted line */
  allows(one: string, user: string): boolean {
    const written = this.#written.get(one) ?? 0
    if (this.#all >= this.#most.ofAll || written >= this.#most.ofEach) {
      this.#leftOut.set(user, (this.#leftOut.get(user) ?? 0) + 1)
      return false
    }
    this.#all++
    this.#written.set(one, written + 1)
    return true
  }

  /** Starts the next interval. @returns omitted lines by user */
  takeLeftOut(): ReadonlyMap<string, number> {
    const leftOut = this.#leftOut
    if (this.#all > 0) this.#written = new Map()
    if (leftOut.size > 0) this.#leftOut = new Map()
    this.#all = 0
    return leftOut
  }
}
