import type { ChildProcess, SendHandle } from 'node:child_process'
import type { ListenHandle } from '../net/listen-handle.ts'

/** One end of the channel between a process and its successor. */
export type Channel<In, Out> = {
  send(message: Out, handle?: ListenHandle): void
  /** @param heard gets each message, with the socket that was sent with it */
  onMessage(heard: (message: In, handle: ListenHandle | undefined) => void): void
  /** Resolves when the other end is gone. */
  readonly gone: Promise<void>
  readonly isGone: boolean
  close(): void
}

/** @param end the process itself, for the channel to its parent, or a child */
export function channelOf<In, Out>(end: ChildProcess | NodeJS.Process): Channel<In, Out> {
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  if (!end.connected) resolve()
  end.once('disconnect', () => resolve())
  // 'disconnect' reports the loss.
  end.on('error', () => {})
  return {
    send: (message, handle) => {
      if (end.connected) end.send?.(message as object, handle as SendHandle | undefined, {}, () => {})
    },
    onMessage: heard => {
      end.on('message', (message: unknown, handle: unknown) => heard(message as In, handle as ListenHandle | undefined))
    },
    gone,
    get isGone() {
      return !end.connected
    },
    close: () => {
      if (end.connected) end.disconnect()
    }
  }
}
