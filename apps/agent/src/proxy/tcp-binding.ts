import type { SocketName } from './raw-socket.ts'

/**
 * The runtime's own TCP handles, without the streams of `node:net` (why: docs/adr/agent-bare-handles.md). Only this file
 * knows their shapes.
 */
export type TcpHandle = {
  /** Called for each read with the handle as `this`. A returned buffer replaces the read buffer. */
  onread: (this: TcpHandle) => Uint8Array | undefined
  onconnection: (status: number, client: TcpHandle) => void
  useUserBuffer(buffer: Uint8Array): void
  readStart(): number
  readStop(): number
  writeBuffer(request: WriteRequest, data: Uint8Array): number
  writeLatin1String(request: WriteRequest, data: string): number
  shutdown(request: ShutdownRequest): number
  bind(address: string, port: number, flags: number): number
  bind6(address: string, port: number, flags: number): number
  connect(request: ConnectRequest, address: string, port: number): number
  connect6(request: ConnectRequest, address: string, port: number): number
  getsockname(out: SocketName & { family: string }): number
  getpeername(out: SocketName & { family: string }): number
  setNoDelay(on: boolean): number
  close(): void
  reset(): number
}
export type WriteRequest = { oncomplete: (status: number) => void }
export type ShutdownRequest = { oncomplete: (status: number) => void }
export type ConnectRequest = { oncomplete: (status: number) => void }

type TcpBinding = {
  TCP: new (kind: number) => TcpHandle
  TCPConnectWrap: new () => ConnectRequest
  constants: { SOCKET: number }
}
type StreamBinding = {
  WriteWrap: new () => WriteRequest
  ShutdownWrap: new () => ShutdownRequest
  /** Results of the last stream call, at the two indexes below. */
  streamBaseState: Int32Array
  kReadBytesOrError: number
  kLastWriteWasAsync: number
}

/** On a runtime without these handles the result fails on use. `usableSockets` tests them before. */
function bindingOf(name: string): unknown {
  try {
    return (process as unknown as { binding: (name: string) => unknown }).binding(name)
  } catch {
    return {}
  }
}
const tcp = bindingOf('tcp_wrap') as TcpBinding
const stream = bindingOf('stream_wrap') as StreamBinding

export const { TCPConnectWrap } = tcp
export const { WriteWrap, ShutdownWrap } = stream
export const newTcp = (): TcpHandle => new tcp.TCP(tcp.constants.SOCKET)
/** Bytes of the reported read, or a negative error. */
export const lastRead = (): number => stream.streamBaseState[stream.kReadBytesOrError] ?? 0
/** Whether the last write continues after the call. */
export const lastWriteWasAsync = (): boolean => stream.streamBaseState[stream.kLastWriteWasAsync] !== 0
