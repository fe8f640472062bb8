import type { PortRange } from '@netlet/contract/agent-settings'
import { readFileSync } from 'node:fs'

/**
 * The local ports of outgoing connections. Left to the kernel, finding a free one takes the longer the more of an address
 * are in use, up to milliseconds in which no other connection goes on. Going round, a port comes back last whose connection ended last;
 * whoever finds one taken asks for the next.
 */
export class SourcePorts {
  readonly #range: PortRange
  #next: number

  constructor(range: PortRange) {
    this.#range = range
    // Processes that share an address begin at different places.
    this.#next = range.first + Math.floor(Math.random() * (range.last - range.first + 1))
  }

  next(): number {
    const port = this.#next
    const { first, last } = this.#range
    // Some are left out at random, so that nobody can tell the next one.
    const after = port + 1 + Math.floor(Math.random() * 2)
    this.#next = after > last ? first : after
    return port
  }
}

/** The range that this system sets aside for outgoing connections (`net.ipv4.ip_local_port_range`, for IPv6 too). */
export function systemPorts(): PortRange {
  const usual = { first: 32_768, last: 60_999 }
  try {
    const text = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8')
    const [first = 0, last = 0] = text.trim().split(/\s+/).map(Number)
    return first > 0 && last >= first ? { first, last } : usual
  } catch {
    return usual
  }
}
