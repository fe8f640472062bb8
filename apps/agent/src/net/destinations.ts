import { networkInterfaces } from 'node:os'
import type { PortRange } from '@netlet/contract/agent-settings'
import { type Address, innerAddress, type Prefix, parseAddress, parsePrefixes, RangeSet } from './ip.ts'

/**
 * Never reachable through the proxy: everything but the public internet (IANA special-purpose registries), and the one cloud
 * metadata address in public space. Of IPv6 only 2000::/3 is public; other ranges include forms with an IPv4 address inside,
 * as ::ffff:0:0:0/96. NAT64 and 6to4 follow the rules of the IPv4 address inside, see `innerAddress`.
 */
const refusedRanges =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 ' +
  '192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ' +
  '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 3fff::/20'

function rangeSet(texts: readonly string[]): RangeSet {
  const parsed = parsePrefixes(texts)
  // Stryker disable next-line CallExpression,ConditionalExpression,StringLiteral: catches mistakes in the lists of this file.
  if (!parsed.ok) throw new Error(`not a prefix: ${parsed.bad}`)
  return new RangeSet(parsed.prefixes)
}

const loopback = rangeSet(['127.0.0.0/8', '0.0.0.0/8', '::/127'])

const portsIn = (ranges: readonly PortRange[]): Set<number> =>
  new Set(ranges.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, n) => first + n)))

const INTERFACES_MS = 5000
const interfaceAddresses = (): string[] =>
  // Stryker disable next-line ArrayDeclaration: for the compiler; each interface has a list.
  Object.values(networkInterfaces()).flatMap(list => (list ?? []).map(entry => entry.address))

export type DestinationRules = {
  /** Prefixes that are reachable although a refused range contains them. */
  allow: readonly Prefix[]
  /** Open ports, at any address. Empty: all ports. */
  allowedPorts: readonly PortRange[]
  /** Ports closed to everyone at any address, even if `allowedPorts` lists them. */
  deniedPorts: readonly PortRange[]
  /** Open ports of this machine's own addresses, except the loopback. */
  ownPorts: readonly PortRange[]
  /** Ports of this machine that stay closed: the management port, a database's. */
  protectedPorts: readonly PortRange[]
}

/** Decides which addresses and ports customers may reach. */
export class DestinationPolicy {
  readonly #refused = rangeSet(refusedRanges.split(' '))
  readonly #allowed: RangeSet
  /** Null: all. */
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
    // Stryker disable next-line ArrayDeclaration: a text that is not a prefix adds nothing.
    this.#own = new RangeSet([])
  }

  /** The server's leased prefixes: with AnyIP their addresses are this machine's, although no interface lists them. */
  setOwn(prefixes: RangeSet): void {
    this.#own = prefixes
  }

  protectPort(port: number): void {
    this.#protectedPorts.add(port)
  }

  portDenied(port: number): boolean {
    return this.#deniedPorts.has(port) || this.#allowedPorts?.has(port) === false
  }

  allows(address: Address, port: number): boolean {
    const inner = innerAddress(address)
    if (inner !== null) return this.allows(inner, port)
    if (this.#isThisMachine(address)) {
      // The connection would use the loopback and so bypass the firewall.
      if (this.#protectedPorts.has(port)) return false
      if (!loopback.has(address) && !this.#ownPorts.has(port)) return false
    }
    return !this.#refused.has(address) || this.#allowed.has(address)
  }

  #isThisMachine(address: Address): boolean {
    if (loopback.has(address) || this.#own.has(address)) return true
    // A monotonic clock: if the time of day is set back, new addresses must still be seen.
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

// The text of a link-local address ends with its interface.
// Stryker disable next-line ArrayDeclaration: for the compiler; interfaces have valid addresses.
const readInterface = (text: string): Address | [] => parseAddress(text.replace(/%.*/, '')) ?? []

// Stryker disable next-line EqualityOperator: 0.0.0.0 is matched as loopback before.
const keyOf = ({ v4, v6 }: Address): number | bigint => (v4 >= 0 ? v4 : v6)
