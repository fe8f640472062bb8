import { formatV4, parseAddress } from '../net/ip.ts'
import { parseAuthority } from './request-head.ts'
import { STATUS_CODES } from 'node:http'

/** An address of a SOCKS5 message. `more`: incomplete. `type`: unknown address type. */
export type ReadAddress = { host: string; port: number; end: number } | 'more' | 'type' | 'malformed'

/** Parses type, address and port of a SOCKS5 message (RFC 1928). `end` is the offset after them. */
export function readAddress(data: Buffer, at: number): ReadAddress {
  const type = data[at]
  const size = data[at + 1]
  if (type === undefined || size === undefined) return 'more'
  const length = type === 1 ? 4 : type === 4 ? 16 : type === 3 ? 1 + size : -1
  if (length < 0) return 'type'
  const from = at + 1
  const end = from + length + 2
  if (data.length < end) return 'more'
  const port = data.readUInt16BE(from + length)
  const text =
    type === 1
      ? formatV4(data.readUInt32BE(from))
      : type === 4
        ? v6Text(data, from)
        : data.toString('latin1', from + 1, from + length)
  // Browsers also send addresses with the type of names.
  const isV6 = text.includes(':')
  if (isV6 && parseAddress(text) === null) return 'malformed'
  const to = parseAuthority(isV6 ? `[${text}]:${port}` : `${text}:${port}`, 0)
  return to === null ? 'malformed' : { host: to.host, port: to.port, end }
}

/** Type, address and port for a SOCKS5 message; zeros if the text is not an address. */
export function writeAddress(text: string, port: number): Buffer {
  const address = parseAddress(text)
  const [v4, v6] = [address?.v4 ?? 0, address?.v6 ?? 0n]
  const bytes = Buffer.alloc(v4 >= 0 ? 7 : 19)
  bytes[0] = v4 >= 0 ? 1 : 4
  if (v4 >= 0) bytes.writeUInt32BE(v4, 1)
  else {
    bytes.writeBigUInt64BE(v6 >> 64n, 1)
    bytes.writeBigUInt64BE(v6 & 0xffff_ffff_ffff_ffffn, 9)
  }
  bytes.writeUInt16BE(port, bytes.length - 2)
  return bytes
}

function v6Text(data: Buffer, from: number): string {
  const parts: string[] = []
  for (let at = from; at < from + 16; at += 2) parts.push(data.readUInt16BE(at).toString(16))
  return parts.join(':')
}

export const established: Buffer = Buffer.from('HTTP/1.1 200 Connection established\r\n\r\n')

/** A short reply of the proxy itself. `keepAlive`: what the client is told. `bodiless`: for HEAD. */
export function reply(status: number, text: string, keepAlive: boolean, bodiless = false): string {
  const body = `${text}\n`
  const challenge = status === 407 ? 'Proxy-Authenticate: Basic realm="proxy"\r\n' : ''
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${challenge}` +
    `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `Connection: ${keepAlive ? 'keep-alive' : 'close'}\r\n\r\n${bodiless ? '' : body}`
  )
}
