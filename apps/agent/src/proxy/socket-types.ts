import type { Server } from 'node:net'
import type { SourcePorts } from '../net/source-ports.ts'

/** Receives the events of a socket. */
export type RawSocketOwner = {
  /** A chunk arrived. With `zeroCopy` it must be written or copied within the call. */
  socketData(rawSocket: RawSocket, chunk: Buffer): void
  /** The other end will send nothing more. */
  socketEnd(rawSocket: RawSocket): void
  /** Everything written is with the kernel. */
  socketDrained(rawSocket: RawSocket): void
  /** The socket broke or closed. Called once, and not for `destroy()`. */
  socketClosed(rawSocket: RawSocket): void
}

/** One end of a connection. The address is empty if the connection is already gone. */
export type SocketName = { address: string; port: number }

/**
 * A TCP connection as the data plane needs it. Each side may end on its own; the socket closes when both have. Calls
 * on a closed socket do nothing.
 */
export type RawSocket = {
  /** Chunks may lie in a buffer that the next read overwrites. The owner pauses reads while another socket holds such bytes. */
  zeroCopy: boolean
  readonly bytesRead: number
  /** Includes bytes that the kernel does not have yet. */
  readonly bytesWritten: number
  /** Written bytes that the kernel does not have yet. */
  readonly unsent: number
  readonly destroyed: boolean
  readonly local: SocketName
  readonly peer: SocketName
  /** Starts to read and to call the owner. */
  start(owner: RawSocketOwner): void
  pause(): void
  resume(): void
  /** Stops reads until `release`, even if the owner resumes. Used by speed limits. */
  hold(): void
  readonly held: boolean
  release(): void
  /** Text is sent as latin1. */
  write(data: Buffer | string): void
  /** Ends this side once everything is sent. */
  end(): void
  /** Closes once everything is sent. */
  closeWhenSent(): void
  /** Closes at once. The owner gets no more events. */
  destroy(): void
  /** Closes with a reset, so that the other end does not take partial data for the whole. */
  reset(): void
  /** Resets once everything is sent. */
  resetWhenSent(): void
}

/** `auto`: the runtime's bare handles if they work as expected, else its public sockets. */
export const socketChoices = ['auto', 'handles', 'streams'] as const
export type SocketChoice = (typeof socketChoices)[number]

/** One implementation of sockets. */
export type Sockets = {
  readonly name: 'handles' | 'streams'
  /** A server that does not listen yet and passes on its connections. */
  createServer(accepted: (rawSocket: RawSocket) => void): Server
  /**
   * Connects from an address and one of `ports` (without them the kernel chooses). `done` gets an error code or null, never
   * within this call and never after `destroy()`. `EADDRINUSE`: a listener has the local port.
   */
  connect(
    host: string,
    port: number,
    family: 4 | 6,
    from: string,
    done: (code: string | null) => void,
    ports?: SourcePorts | null
  ): RawSocket
}

/** How many local ports are tried that are in use for the same target. */
export const MAX_PORTS = 64
