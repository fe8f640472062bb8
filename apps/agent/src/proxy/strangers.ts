import { clientKey } from './login-guard.ts'

type Stranger = { readonly clientText: string; stranger: Place | null; destroy(): void }
/** A connection's place in two linked lists: of all strangers, and of its client's. */
export type Place = {
  readonly connection: Stranger
  readonly of: OfClient
  older: Place | null
  younger: Place | null
  olderOf: Place | null
  youngerOf: Place | null
}
type OfClient = { count: number; oldest: Place | null; youngest: Place | null }

/** Connections that have not logged in, oldest first, of all clients and of each. Linked, because all connections pass through. */
export class Strangers {
  #oldest: Place | null = null
  #youngest: Place | null = null
  /** An empty client stays until `tidy`, because most clients soon connect again. */
  readonly #clients = new Map<string, OfClient>()

  add(connection: Stranger): void {
    const key = clientKey(connection.clientText)
    let of = this.#clients.get(key)
    if (of === undefined) this.#clients.set(key, (of = { count: 0, oldest: null, youngest: null }))
    const place: Place = { connection, of, older: this.#youngest, younger: null, olderOf: of.youngest, youngerOf: null }
    if (place.older === null) this.#oldest = place
    else place.older.younger = place
    if (place.olderOf === null) of.oldest = place
    else place.olderOf.youngerOf = place
    this.#youngest = of.youngest = place
    of.count++
    connection.stranger = place
  }

  /** @returns whether it was a stranger */
  delete(connection: Stranger): boolean {
    const place = connection.stranger
    if (place === null) return false
    connection.stranger = null
    const { of, older, younger, olderOf, youngerOf } = place
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
