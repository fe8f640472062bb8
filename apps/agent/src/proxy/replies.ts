import { STATUS_CODES } from 'node:http'

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
