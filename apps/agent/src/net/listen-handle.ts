import type { Server } from 'node:net'

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
