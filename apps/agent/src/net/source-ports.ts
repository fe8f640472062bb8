import type { PortRange } from '@netlet/contract/agent-settings'
import { readFileSync } from 'node:fs'

/**
 * Local ports of outgoing connections. The kernel's own search for a free port slows down as an address uses more of them, up to
 * milliseconds in which no other connection proceeds. In rotation, the port that was used longest ago comes next; the
 * caller asks again if a port is taken.
 */
export class SourcePorts {
  readonly #range: PortRange
  #next: number

  constructor(range: PortRange) {
    this.#range = range
    // Processes that share an address start at different ports.
    this.#next = range.first + Math.floor(Math.random() * (range.last - range.first + 1))
  }

  next(): number {
    const port = this.#next
    const { first, last } = this.#range
    // Random gaps make the next port hard to guess.
    const after = port + 1 + Math.floor(Math.random() * 2)
    this.#next = after > last ? first : after
    return port
  }
}

/** The system's range for outgoing connections (`net.ipv4.ip_local_port_range`, also for IPv6). */
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
