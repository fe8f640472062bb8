import { networkInterfaces } from 'node:os'
import type { PortRange } from '@netlet/contract/agent-settings'
import { type Address, innerAddress, type Prefix, parseAddress, parsePrefixes, RangeSet } from './ip.ts'

/**
 * Where no customer may reach through the proxy: what is not the public internet (IANA special-purpose registries), and
 * the one cloud metadata address that is in public space. Of IPv6 that is all but 2000::/3: other forms with an IPv4 address inside
 * are out there, as ::ffff:0:0:0/96 of translators. NAT64 and 6to4 are judged by the address inside, see `innerAddress`.
 */
const refusedRanges =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 ' +
  '192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ' +
  '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 3fff::/20'

function rangeSet(texts: readonly string[]): RangeSet {
  const parsed = parsePrefixes(texts)
  // Stryker disable next-line CallExpression,ConditionalExpression,StringLiteral: for a mistake in the lists here.
  if (!parsed.ok) throw new Error(`not a prefix: ${parsed.bad}`)
  return new RangeSet(parsed.prefixes)
}

const loopback = rangeSet(['127.0.0.0/8', '0.0.0.0/8', '::/127'])

const portsIn = (ranges: readonly PortRange[]): Set<number> =>
  new Set(ranges.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, n) => first + n)))

const INTERFACES_MS = 5000
const interfaceAddresses = (): string[] =>
  // Stryker disable next-line ArrayDeclaration: for the compiler, as each interface has its list.
  Object.values(networkInterfaces()).flatMap(list => (list ?? []).map(entry => entry.address))

export type DestinationRules = {
  /** Prefixes that are reachable although they are in a refused range. */
  allow: readonly Prefix[]
  /** Ports that are open, wherever they are; none: all of them. */
  allowedPorts: readonly PortRange[]
  /** Ports closed to everyone, wherever they are, those that are listed as open too. */
  deniedPorts: readonly PortRange[]
  /** Ports that are reachable on this machine's own addresses, those of the loopback excepted. */
  ownPorts: readonly PortRange[]
  /** Ports that are never reachable on an address of this machine: the management port, the database's. */
  protectedPorts: readonly PortRange[]
}

/** Which destination addresses and ports a customer may reach. */
export class DestinationPolicy {
  readonly #refused = rangeSet(refusedRanges.split(' '))
  readonly #allowed: RangeSet
  /** null: all. */
  readonly #allowedPorts: ReadonlySet<number> | null
  readonly #deniedPorts: ReadonlySet<number>
  readonly #protectedPorts: Set<number>
  #own: RangeSet
  #interfaces: { until: number; addresses: Set<number | bigint> } = { until: -Infinity, addresses: new Set() }
  readonly #ownPorts: ReadonlySet<number>
  readonly #listInterfaces: () => string[]

  constructor(rules: DestinationRules, listInterfaces = interfaceAddresses) {
    this.#listInterfaces = listInterfaces
    this.#ownPorts = portsIn(rules.ownPorts)
    this.#allowed = new RangeSet(rules.allow)
    this.#allowedPorts = rules.allowedPorts.length === 0 ? null : portsIn(rules.allowedPorts)
    this.#deniedPorts = portsIn(rules.deniedPorts)
    this.#protectedPorts = portsIn(rules.protectedPorts)
    // Stryker disable next-line ArrayDeclaration: what is no prefix holds nothing.
    this.#own = new RangeSet([])
  }

  /** The server's own prefixes: with AnyIP their addresses are this machine although no interface lists them. */
  setOwn(prefixes: RangeSet): void {
    this.#own = prefixes
  }

  protectPort(port: number): void {
    this.#protectedPorts.add(port)
  }

  portDenied(port: number): boolean {
    return this.#deniedPorts.has(port) || this.#allowedPorts?.has(port) === false
  }

  /** Whether the address may be dialled on that port. */
  allows(address: Address, port: number): boolean {
    const inner = innerAddress(address)
    if (inner !== null) return this.allows(inner, port)
    if (this.#isThisMachine(address)) {
      // Such a connection goes over the loopback, where no firewall stands before this machine's services.
      if (this.#protectedPorts.has(port)) return false
      if (!loopback.has(address) && !this.#ownPorts.has(port)) return false
    }
    return !this.#refused.has(address) || this.#allowed.has(address)
  }

  #isThisMachine(address: Address): boolean {
    if (loopback.has(address) || this.#own.has(address)) return true
    // Not the time of day: where that is set back, new addresses would go unseen until it is as late again.
    const now = performance.now()
    if (this.#interfaces.until < now) {
      this.#interfaces = {
        until: now + INTERFACES_MS,
        addresses: new Set(this.#listInterfaces().flatMap(readInterface).map(keyOf))
      }
    }
    return this.#interfaces.addresses.has(keyOf(address))
  }
}

/** Link-local addresses come with their interface. */
// Stryker disable next-line ArrayDeclaration: for the compiler, as interfaces have addresses.
const readInterface = (text: string): Address | [] => parseAddress(text.replace(/%.*/, '')) ?? []

// Stryker disable next-line EqualityOperator: 0.0.0.0 is one of the loopback before it is looked for.
const keyOf = ({ v4, v6 }: Address): number | bigint => (v4 >= 0 ? v4 : v6)
