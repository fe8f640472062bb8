import type { PortRange } from '@netlet/contract/agent-settings'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:net'

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

/** A listening socket that can be sent to another process. Both then share its queue, and either accepts. */
export type ListenHandle = { close(): void }

/** A listening socket with the host it was asked for. `done` releases it if it came from another process. */
export type Listener = { host: string; port: number; handle: ListenHandle; done: () => void }

/** A socket that came from another process. */
export const borrowed = (host: string, port: number, handle: ListenHandle): Listener => ({
  host,
  port,
  handle,
  done: () => handle.close()
})

/** A socket of one of this process' servers. */
export const lent = (host: string, port: number, handle: ListenHandle): Listener => ({
  host,
  port,
  handle,
  done: () => {}
})

/** Whether the socket has one of these hosts and this port. Port 0 is any. */
export const fits = (listener: Listener, hosts: readonly string[], port: number): boolean =>
  hosts.includes(listener.host) && (port === 0 || listener.port === port)

/** Length of the accept queue. Each call of listen sets it again. */
export const BACKLOG = 4096

/**
 * The listening socket of a server; null if this Node.js does not expose it. Node.js can also send the server itself, but that would
 * start to accept in the receiving process at once.
 */
export function handleOf(server: Server): ListenHandle | null {
  const { _handle: handle } = server as unknown as { _handle?: ListenHandle | null }
  return handle ?? null
}
