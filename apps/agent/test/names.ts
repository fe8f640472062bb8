// TLS hellos, as clients send them and as an attacker might.
import { connect } from 'node:tls'
import { Duplex } from 'node:stream'

/** The hello of this machine's own TLS library. */
export const realHello = (servername: string): Promise<Buffer> =>
  new Promise(resolve => {
    const wire = new Duplex({
      read: () => {},
      write: (chunk: Buffer, _encoding, done) => {
        resolve(chunk)
        done()
      }
    })
    connect({ socket: wire, servername }).on('error', () => {})
  })

const number = (value: number, size: number): Buffer => {
  const bytes = Buffer.alloc(size)
  bytes.writeUIntBE(value, 0, size)
  return bytes
}
const vector = (size: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([number(content.length, size), content])
}
const extension = (type: number, content: Buffer): Buffer => Buffer.concat([number(type, 2), vector(2, content)])

export const serverName = (name: string): Buffer =>
  extension(0, vector(2, Buffer.from([0]), vector(2, Buffer.from(name, 'latin1'))))
export const encryptedHello = (): Buffer => extension(0xfe0d, Buffer.alloc(64, 7))
const supportedGroups = extension(10, vector(2, number(29, 2)))

/** A hello with these extensions, in records of `record` bytes. */
export function hello(extensions: Buffer[], record = 16_384): Buffer {
  const body = Buffer.concat([
    number(0x0303, 2),
    Buffer.alloc(32, 5),
    vector(1, Buffer.alloc(32, 6)),
    vector(2, number(0x1301, 2)),
    vector(1, Buffer.from([0])),
    vector(2, supportedGroups, ...extensions)
  ])
  const message = Buffer.concat([Buffer.from([1]), vector(3, body)])
  const records: Buffer[] = []
  for (let at = 0; at < message.length; at += record) {
    records.push(Buffer.from([22, 3, 1]), vector(2, message.subarray(at, at + record)))
  }
  return Buffer.concat(records)
}

/** Splits a buffer into single bytes. */
export const bytesOf = (buffer: Buffer): Buffer[] => Array.from(buffer, byte => Buffer.from([byte]))
