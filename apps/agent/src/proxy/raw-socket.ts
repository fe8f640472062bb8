import type { Server } from 'node:net'
import type { SourcePorts } from '../net/source-ports.ts'

/** Who is told of what happens on a socket. */
export type RawSocketOwner = {
  /** A piece came. With `zeroCopy` it has to be written or copied within the call. */
  socketData(rawSocket: RawSocket, chunk: Buffer): void
  /** The other end will send nothing more. */
  socketEnd(rawSocket: RawSocket): void
  /** Everything written is with the kernel. */
  socketDrained(rawSocket: RawSocket): void
  /** The socket broke or came to its end; not called for `destroy()` and only once. */
  socketClosed(rawSocket: RawSocket): void
}

/** An end of a connection; the address is empty when the connection is gone already. */
export type SocketName = { address: string; port: number }

/**
 * A TCP connection as the data plane needs it, whatever it stands on. Either side may end on its own; when both have, the
 * socket closes. Calls on a closed socket do nothing.
 */
export type RawSocket = {
  /**
   * Whether large pieces may come in a buffer that the next read overwrites: then the owner pauses the socket while bytes
   * of it wait in another one.
   */
  zeroCopy: boolean
  readonly bytesRead: number
  /** Includes what is not with the kernel yet. */
  readonly bytesWritten: number
  /** Bytes written that the kernel did not take yet. */
  readonly unsent: number
  readonly destroyed: boolean
  readonly local: SocketName
  readonly peer: SocketName
  /** Begins to tell the owner. */
  start(owner: RawSocketOwner): void
  pause(): void
  resume(): void
  /** Reads nothing, whatever its owner wants, until `release`: a limit of speed. */
  hold(): void
  readonly held: boolean
  release(): void
  /** Text goes out as latin1. What the kernel does not take at once counts as `unsent`. */
  write(data: Buffer | string): void
  /** Ends this side once everything written has left. */
  end(): void
  /** Closes once everything written has left. */
  closeWhenSent(): void
  /** Closes at once; the owner hears nothing more. */
  destroy(): void
  /** Closes with a reset, so that the other end does not take what it has for the whole. */
  reset(): void
  /** Resets once everything written has left. */
  resetWhenSent(): void
}

/** `auto`: the runtime's bare handles where they do what they should, its public sockets elsewhere. */
export const socketChoices = ['auto', 'handles', 'streams'] as const
export type SocketChoice = (typeof socketChoices)[number]

/** One way to make sockets. */
export type Sockets = {
  readonly name: 'handles' | 'streams'
  /** A server, not listening yet, that hands its connections over as they come. */
  createServer(accepted: (rawSocket: RawSocket) => void): Server
  /**
   * Connects from an address, and from one of `ports` (without them the kernel chooses). `done` gets the error's code, or
   * null; never within this call, and not once the socket is destroyed. `EADDRINUSE` says that the local port belongs to a
   * listener.
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
