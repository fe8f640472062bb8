import { createSocket } from 'node:dgram'
import { once } from 'node:events'

const TXT = 16
const CNAME = 5

/** Texts by name. A missing name does not exist, and `null` is not answered. `CNAME x` is an alias for x. */
export type Zone = Record<string, string[] | null>

/** Replaces the answer: an error code of RFC 1035, no DNS at all, half an answer, or one that continues over TCP. */
type DnsFault = 'failure' | 'refused' | 'page' | 'half' | 'cut'

export async function startNameServer(port = 0) {
  let zone = new Map<string, string[] | null>()
  let fault: DnsFault | null = null
  const socket = createSocket('udp4')
  socket.on('message', (question, from) => {
    const answer = answerTo(question, zone)
    if (answer) socket.send(fault ? spoil(answer, fault) : answer, from.port, from.address)
  })
  socket.bind(port, '127.0.0.1')
  await once(socket, 'listening')
  return {
    /** In the format of `DNS_SERVERS`. */
    address: `127.0.0.1:${socket.address().port}`,
    publish(all: Zone): void {
      zone = new Map(Object.entries(all))
    },
    fail(kind: DnsFault | null): void {
      fault = kind
    },
    close: () => void socket.close()
  }
}

function spoil(answer: Buffer, fault: DnsFault): Buffer {
  if (fault === 'page') return Buffer.from('<html>Sign in to the network</html>')
  if (fault === 'half') return answer.subarray(0, Math.ceil(answer.length / 2))
  // Points to TCP, although nothing listens there.
  const flags = { failure: 0x8182, refused: 0x8185, cut: 0x8380 }[fault]
  const said = Buffer.from(answer)
  said.writeUInt16BE(flags, 2)
  return said
}

/** RFC 1035: the question again, and a record for each text. */
function answerTo(question: Buffer, zone: ReadonlyMap<string, string[] | null>): Buffer | null {
  const labels: string[] = []
  let at = 12
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const type = question.readUInt16BE(at + 1)
  const all = zone.get(labels.join('.').toLowerCase())
  if (all === null) return null
  const found = (all ?? []).filter(text => text.startsWith('CNAME ') === (type === CNAME))
  const head = Buffer.alloc(12)
  question.copy(head, 0, 0, 2)
  head.writeUInt16BE(all ? 0x8180 : 0x8183, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(found.length, 6)
  const answers = found.map(text => {
    const data = type === CNAME ? nameOf(text.slice('CNAME '.length)) : textOf(text)
    const fixed = Buffer.from([0xc0, 12, 0, type === CNAME ? CNAME : TXT, 0, 1, 0, 0, 0, 60, 0, 0])
    fixed.writeUInt16BE(data.length, 10)
    return Buffer.concat([fixed, data])
  })
  return Buffer.concat([head, question.subarray(12, at + 5), ...answers])
}

const counted = (part: string) => Buffer.concat([Buffer.from([part.length]), Buffer.from(part)])
const textOf = (text: string) => Buffer.concat((text.match(/.{1,255}/gs) ?? []).map(counted))
const nameOf = (name: string) => Buffer.concat([...name.split('.').map(counted), Buffer.from([0])])
