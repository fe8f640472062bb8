import type { Server } from 'node:net'

/** A listening socket that goes from one process to another: both have it, and what waits in it is taken by either. */
export type ListenHandle = { close(): void }

/** A listening socket with the host that it was asked for. `done` gives up this process' hold of one that is not its own. */
export type Listener = { host: string; port: number; handle: ListenHandle; done: () => void }

/** One that came from another process. */
export const borrowed = (host: string, port: number, handle: ListenHandle): Listener => ({
  host,
  port,
  handle,
  done: () => handle.close()
})

/** One of a server of this process. */
export const lent = (host: string, port: number, handle: ListenHandle): Listener => ({
  host,
  port,
  handle,
  done: () => {}
})

/** Whether it is one of those that are asked for; port 0 is any. */
export const fits = (listener: Listener, hosts: readonly string[], port: number): boolean =>
  hosts.includes(listener.host) && (port === 0 || listener.port === port)

/** Connections that wait to be taken. Listening once more sets it again. */
export const BACKLOG = 4096

/**
 * The socket of a server that listens; null where this Node.js does not show it. A server itself can be sent, too, but would begin
 * to take connections wherever it arrives.
 */
export function handleOf(server: Server): ListenHandle | null {
  const { _handle: handle } = server as unknown as { _handle?: ListenHandle | null }
  return handle ?? null
}
