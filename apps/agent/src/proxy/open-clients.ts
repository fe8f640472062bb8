import { type Address, parseAddress, parsePrefix, type RangeSet } from '../net/ip.ts'

/** The part of a lease needed here. `openTo`: client prefixes that need no password. */
type Open = { addresses: RangeSet; openTo: readonly string[] }

/** Prefixes of one family, by length. A lookup tries each length that a user listed. */
class PrefixIndex<L, T extends number | bigint> {
  readonly #byLength = new Map<number, Map<T, Set<L>>>()
  readonly #network: (address: T, length: number) => T

  constructor(network: (address: T, length: number) => T) {
    this.#network = network
  }

  add(first: T, length: number, lease: L): void {
    let networks = this.#byLength.get(length)
    if (networks === undefined) this.#byLength.set(length, (networks = new Map()))
    const leases = networks.get(first)
    if (leases === undefined) networks.set(first, new Set([lease]))
    else leases.add(lease)
  }

  remove(first: T, length: number, lease: L): void {
    const networks = this.#byLength.get(length)
    const leases = networks?.get(first)
    leases?.delete(lease)
    // Stryker disable next-line all: an empty set finds no lease and only takes memory.
    if (leases?.size === 0) networks?.delete(first)
    // Stryker disable next-line all: the same.
    if (networks?.size === 0) this.#byLength.delete(length)
  }

  *of(address: T): Generator<L> {
    for (const [length, networks] of this.#byLength) yield* networks.get(this.#network(address, length)) ?? []
  }
}

/** Finds the leases that let a client in without a password, by the client's address, at a cost independent of the users. */
export class OpenClients<L extends Open> {
  readonly #v4 = new PrefixIndex<L, number>((address, length) => address - (address % 2 ** (32 - length)))
  readonly #v6 = new PrefixIndex<L, bigint>(
    (address, length) => (address >> BigInt(128 - length)) << BigInt(128 - length)
  )

  add(lease: L): void {
    this.#each(lease, (index, first, length) => index.add(first, length, lease))
  }

  remove(lease: L): void {
    this.#each(lease, (index, first, length) => index.remove(first, length, lease))
  }

  #each(
    lease: L,
    work: (index: PrefixIndex<L, number | bigint>, first: number | bigint, length: number) => void
  ): void {
    for (const text of lease.openTo) {
      const prefix = parsePrefix(text)
      if (prefix === null) continue
      const length = Number(text.slice(text.indexOf('/') + 1))
      if (prefix.family === 4) work(this.#v4 as PrefixIndex<L, number | bigint>, Number(prefix.first), length)
      else work(this.#v6 as PrefixIndex<L, number | bigint>, prefix.first, length)
    }
  }

  /** The one lease of the address `local` that lists the client. `ambiguous`: several users of a shared address list it. */
  find(local: Address, client: string): L | 'ambiguous' | null {
    const address = parseAddress(client)
    if (address === null) return null
    let found: L | null = null
    for (const lease of address.v4 >= 0 ? this.#v4.of(address.v4) : this.#v6.of(address.v6)) {
      if (lease === found || !lease.addresses.has(local)) continue
      if (found !== null) return 'ambiguous'
      found = lease
    }
    return found
  }
}
