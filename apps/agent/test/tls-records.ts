// TLS 1.3 records that Node's own client never sends.
import { createCipheriv, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { onEnd } from './base.ts'

const keyUpdate = (asksBack: boolean): Buffer => Buffer.from([24, 0, 0, 1, asksBack ? 1 : 0])
const HANDSHAKE = 22
const DATA = 23

/** HKDF-Expand-Label of RFC 8446 7.1, for SHA-256 and at most one block of output. */
function expand(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`)
  const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])])
  return createHmac('sha256', secret).update(info).digest().subarray(0, length)
}

/** Writes client records that continue the sequence of Node's own. */
class Records {
  #secret: Buffer
  #number: number

  constructor(secret: Buffer, written: number) {
    this.#secret = secret
    this.#number = written
  }

  #record(type: number, content: Buffer): Buffer {
    const inner = Buffer.concat([content, Buffer.from([type])])
    const head = Buffer.from([23, 3, 3, 0, 0])
    head.writeUInt16BE(inner.length + 16, 3)
    const nonce = expand(this.#secret, 'iv', 12)
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ this.#number++) >>> 0, 8)
    const cipher = createCipheriv('aes-128-gcm', expand(this.#secret, 'key', 16), nonce).setAAD(head)
    return Buffer.concat([head, cipher.update(inner), cipher.final(), cipher.getAuthTag()])
  }

  data(content: Buffer): Buffer {
    return this.#record(DATA, content)
  }

  /** A record without data. `asksBack` asks for an answer of the same size. */
  keyUpdate(asksBack = false): Buffer {
    const record = this.#record(HANDSHAKE, keyUpdate(asksBack))
    this.#secret = expand(this.#secret, 'traffic upd', 32)
    this.#number = 0
    return record
  }
}

/** Logs in inside TLS with `head`, in one record. `raw` is the TCP connection, for which `records` makes more. */
export async function loggedIn(
  port: number,
  head: string
): Promise<{ socket: TLSSocket; raw: Socket; records: Records }> {
  const raw = connect(port, '127.0.0.1')
  onEnd(() => raw.destroy())
  raw.on('error', () => undefined)
  const socket = connectTls({
    socket: raw,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.3',
    ciphers: 'TLS_AES_128_GCM_SHA256'
  })
  socket.on('error', () => undefined)
  let secret = Buffer.alloc(0)
  socket.on('keylog', (line: Buffer) => {
    const [what, , hex = ''] = line.toString().trim().split(' ')
    if (what === 'CLIENT_TRAFFIC_SECRET_0') secret = Buffer.from(hex, 'hex')
  })
  await once(socket, 'secureConnect')
  socket.write(head)
  await once(socket, 'data')
  return { socket, raw, records: new Records(secret, 1) }
}
