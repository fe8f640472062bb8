import type { RemoteInfo, Socket } from 'node:dgram'
import { agentTraffic } from '@netlet/contract/agent'
import { beforeAll, describe, expect, test } from 'vitest'
import type { AbuseSign } from '../src/proxy/abuse-watch.ts'
import { NEVER, testPlane } from './test-plane.ts'
import {
  associate,
  datagram,
  lease,
  RawClient,
  type TestAgent,
  testAgent,
  udpSocket,
  udpTo,
  until
} from './test-agent.ts'

let agent: TestAgent
let ip: string
let target: UdpTarget
type UdpTarget = { port: number; got: Array<{ text: string; from: RemoteInfo }>; socket: Socket }

/** A target that answers each datagram with `got TEXT`. */
async function udpTarget(address = '127.0.0.1'): Promise<UdpTarget> {
  const socket = await udpSocket(address)
  const got: UdpTarget['got'] = []
  socket.on('message', (data, from) => {
    got.push({ text: data.toString('latin1', 0, 100), from })
    socket.send(`got ${data.toString()}`, from.port, from.address)
  })
  return { port: socket.address().port, got, socket }
}

/** Pending lookups, which the test answers. */
const slow: Array<() => void> = []
const names: Record<string, string[]> = { 'public.test': ['127.0.0.1'], 'inside.test': ['10.0.0.1'] }

beforeAll(async () => {
  agent = await testAgent({
    limits: { sweepMs: 20, idleMs: 60_000 },
    world: {
      resolve: (name, _family, answer) => {
        if (name.startsWith('slow')) return void slow.push(() => answer({ ok: true, addresses: ['127.0.0.1'] }))
        const addresses = names[name]
        answer(addresses === undefined ? { ok: false, reason: 'not-found' } : { ok: true, addresses })
      }
    }
  })
  ip = `${agent.net}.1.1`
  target = await udpTarget()
  await lease(agent.call, 'u', [`${agent.net}.1.0/30`])
  await lease(agent.call, 'judged', [`${agent.net}.2.0/30`], { denied_domains: ['denied.test', '127.77.0.0/16'] })
})

const log = async (): Promise<string> => (await agent.call('GET', '/api/export/access.log')).text
const { v4, name: named } = udpTo

type Association = { code: number; control: RawClient; client: Socket; port: number; answers: Buffer[] }

async function associated(
  user = 'u',
  at = ip,
  options: { from?: string; declared?: Buffer; port?: number } = {}
): Promise<Association> {
  const {
    code,
    control,
    relay,
    at: told
  } = await associate(at, options.port ?? agent.proxyPort, user, options.declared)
  const client = await udpSocket(options.from)
  const answers: Buffer[] = []
  client.on('message', data => answers.push(data))
  if (code === 0) expect(told).toBe(at)
  return { code, control, client, port: relay, answers }
}

/** Resends until an answer contains the text, because datagrams can be lost or late, also over the loopback. */
const answered = async ({ client, port, answers }: Association, data: Buffer, at = ip, text = ''): Promise<Buffer> =>
  until('an answer', async () => {
    client.send(data, port, at)
    await new Promise(resolve => setTimeout(resolve, 10))
    const found = answers.findIndex(answer => answer.includes(text))
    return found < 0 ? undefined : answers.splice(0, found + 1).at(-1)
  })

describe('SOCKS5 UDP ASSOCIATE', () => {
  test('leaves from the leased address, brings answers back, counts and logs them', async () => {
    const association = await associated()
    const answer = await answered(association, datagram(v4('127.0.0.1', target.port), 'one'))
    expect(answer).toEqual(datagram(v4('127.0.0.1', target.port), 'got one'))
    expect(target.got.at(-1)?.from.address).toBe(ip)
    await answered(association, datagram(named('public.test', target.port), 'two'), ip, 'got two')
    const mapped = Buffer.from([4, ...Array<number>(10).fill(0), 255, 255, 127, 0, 0, 1])
    const to = Buffer.concat([mapped, Buffer.from([target.port >> 8, target.port & 255])])
    await answered(association, datagram(to, 'mapped'), ip, 'got mapped')
    // The association ends with its control connection.
    const [, before] = [association.control.socket.end(), target.got.length]
    await association.control.over()
    const lines = [/u \S+ UDP public\.test:\d+ 200 \d+ \d+ \d+ ok/, /u \S+ SOCKS5 udp 200 /]
    await until('the log', async () => {
      const text = await log()
      return lines.every(line => line.test(text))
    })
    association.client.send(datagram(v4('127.0.0.1', target.port), 'late'), association.port, ip)
    const { rows } = agentTraffic.parse((await agent.call('GET', '/api/traffic')).json)
    const row = rows.find(each => each.user === 'u' && each.ip === ip)
    // At least two datagrams and their answers, besides the greeting.
    expect(row?.up).toBeGreaterThanOrEqual(6 + 3 + 10 + 10)
    expect(row?.down).toBeGreaterThanOrEqual(14 + 14)
    expect(target.got.slice(before).some(({ text }) => text === 'late')).toBe(false)
  })

  test('a target that is denied afterwards gets nothing more, and its answers do not pass', async () => {
    const at = `${agent.net}.3.1`
    const deny = (denied_domains: string[]) => lease(agent.call, 'later', [`${at}/32`], { denied_domains })
    await deny(['first.test'])
    const association = await associated('later', at)
    const site = datagram(named('public.test', target.port), 'to the site')
    await answered(association, site, at)
    const other = await udpTarget('127.0.0.5')
    const elsewhere = datagram(v4('127.0.0.5', other.port), 'to another')
    await answered(association, elsewhere, at)
    const port = target.got.at(-1)?.from.port ?? 0
    await deny(['first.test', 'public.test'])
    const before = target.got.length
    let late = 0
    association.client.on('message', data => (late += data.includes('late') ? 1 : 0))
    association.client.send(site, association.port, at)
    target.socket.send('late', port, at)
    // Datagrams arrive in order, so a later answer shows that these were dropped.
    association.answers.length = 0
    await answered(association, datagram(v4('127.0.0.5', other.port), 'behind'), at, 'got behind')
    expect(target.got).toHaveLength(before)
    expect(late).toBe(0)
  })

  test('a name that is denied while it is asked for is refused when the answer comes', async () => {
    const at = `${agent.net}.11.1`
    const rules = (denied_domains: string[]): Promise<unknown> =>
      lease(agent.call, 'waiting', [`${at}/32`], { denied_domains })
    await rules([])
    const association = await associated('waiting', at)
    await until('the question', () => {
      association.client.send(datagram(named('slow.closed.test', target.port), 'early'), association.port, at)
      return slow.length > 0
    })
    await rules(['closed.test'])
    slow.pop()?.()
    await answered(association, datagram(named('public.test', target.port), 'now'), at, 'got now')
    association.control.socket.end()
    await until('the log', async () => /waiting \S+ UDP slow\.closed\.test:\d+ 403 .* denied-domain/.test(await log()))
    expect(target.got.map(({ text }) => text)).not.toContain('early')
  })

  test('a name without an answer is asked for again while its client goes on', async () => {
    let asked = 0
    const { port, pass } = await testPlane({
      limits: { sweepMs: NEVER },
      resolve: (_name, _family, answer) =>
        answer(asked++ === 0 ? { ok: false, reason: 'not-found' } : { ok: true, addresses: ['127.0.0.1'] })
    })
    const at = '127.0.0.1'
    const association = await associated('u', at, { port })
    const late = datagram(named('late.test', target.port), 'late')
    association.client.send(late, association.port, at)
    await answered(association, datagram(v4('127.0.0.1', target.port), 'now'), at, 'got now')
    expect(asked).toBe(1)
    pass(2001)
    await answered(association, late, at, 'got late')
  })

  test('takes datagrams of its client alone, whole ones alone, and answers of its targets alone', async () => {
    const association = await associated()
    const [stranger, neighbour, other] = [await udpSocket('127.0.0.9'), await udpSocket('127.0.0.1'), await udpTarget()]
    // The first datagram tells the client's port, but not that of another client.
    stranger.send(datagram(v4('127.0.0.1', target.port), 'not mine'), association.port, ip)
    await answered(association, datagram(v4('127.0.0.1', target.port), 'mine'))
    for (const socket of [stranger, neighbour]) {
      socket.send(datagram(v4('127.0.0.1', target.port), 'not mine'), association.port, ip)
    }
    association.client.send(datagram(v4('127.0.0.1', target.port), 'a fragment', 1), association.port, ip)
    association.client.send(Buffer.from([0, 0, 0, 1, 127]), association.port, ip)
    const egress = target.got.at(-1)?.from.port ?? 0
    other.socket.send('uninvited', egress, ip)
    other.socket.send(datagram(v4('127.0.0.1', target.port), 'not mine'), egress, ip)
    await answered(association, datagram(v4('127.0.0.1', target.port), 'mine again'))
    expect(target.got.map(({ text }) => text)).not.toContain('not mine')
    expect(target.got.map(({ text }) => text)).not.toContain('a fragment')
    expect(association.answers.join('')).not.toContain('uninvited')
  })

  test('holds a client to the port that it said, where it is seen under the address that it said', async () => {
    const own = await udpSocket('127.0.0.1')
    const said = await associated('u', ip, { declared: v4('127.0.0.1', own.address().port) })
    const before = target.got.length
    said.client.send(datagram(v4('127.0.0.1', target.port), 'from another port'), said.port, ip)
    const answers: Buffer[] = []
    own.on('message', data => answers.push(data))
    await answered({ ...said, client: own, answers }, datagram(v4('127.0.0.1', target.port), 'from the port'))
    expect(target.got.slice(before).map(({ text }) => text)).not.toContain('from another port')
  })

  test('refuses what connections are refused: ranges, ports, denied names and addresses, QUIC where names are denied', async () => {
    const at = `${agent.net}.2.1`
    const association = await associated('judged', at)
    const send = (to: Buffer, data: string | Buffer = 'x'): void =>
      association.client.send(datagram(to, data), association.port, at)
    const hello = Buffer.concat([Buffer.from([0xc3, 0, 0, 0, 1]), Buffer.alloc(1200)])
    const before = target.got.length
    // The agent recognises QUIC by its first bytes on any port.
    send(v4('127.0.0.1', target.port), hello)
    for (const to of [
      v4('10.0.0.1', 53),
      v4('127.77.0.1', 53),
      v4('127.0.0.1', 25),
      v4('127.0.0.1', agent.port),
      v4('127.0.0.1', 443),
      named('www.denied.test', 53),
      named('inside.test', 53),
      named('nowhere.test', 53)
    ])
      send(to)
    await answered(association, datagram(v4('127.0.0.1', target.port), 'fine'), at)
    association.control.socket.destroy()
    const lines = await until('the log', async () => {
      const text = await log()
      return text.includes('nowhere.test') && text
    })
    for (const line of [
      '10.0.0.1:53 403 0 0 \\d+ refused-range',
      '127.77.0.1:53 403 0 0 \\d+ denied-address',
      '127.0.0.1:25 403 0 0 \\d+ refused-port',
      `127.0.0.1:${agent.port} 403 0 0 \\d+ refused-range`,
      '127.0.0.1:443 403 0 0 \\d+ hidden-name',
      'www.denied.test:53 403 0 0 \\d+ denied-domain',
      'inside.test:53 403 0 0 \\d+ refused-range',
      'nowhere.test:53 502 0 0 \\d+ not-found'
    ]) {
      expect(lines).toMatch(new RegExp(`judged \\S+ UDP ${line}`))
    }
    expect(target.got.slice(before).every(({ text }) => text === 'fine')).toBe(true)
    // A user without denied names may speak QUIC.
    const free = await associated()
    expect((await answered(free, datagram(v4('127.0.0.1', target.port), hello))).length).toBeGreaterThan(1200)
  })

  test('reaches so many targets at a time and no more, each association for itself', async () => {
    const association = await associated()
    const sinks = await Promise.all(Array.from({ length: 4 }, () => udpTarget()))
    // No target answers. Each port counts as a target.
    for (let n = 0; n < 256; n++) {
      association.client.send(datagram(v4('127.0.3.1', 10_000 + n), 'x'), association.port, ip)
      // The agent runs in this process. It reads now, before the socket's buffer overflows.
      if (n % 16 === 15) await new Promise(setImmediate)
    }
    for (const sink of sinks)
      association.client.send(datagram(v4('127.0.0.1', sink.port), 'beyond'), association.port, ip)
    const second = await associated()
    await answered(second, datagram(v4('127.0.0.1', target.port), 'another'))
    expect(sinks.flatMap(sink => sink.got)).toEqual([])
    association.control.socket.destroy()
    // Some share a line, because they are cheap and must not push out other lines.
    await until('256 targets', async () => {
      const lines = (await log()).split('\n').filter(line => / u \S+ (?:UDP 127\.0\.3\.1:|.* left-out:)/.test(line))
      const told = lines.map(line => Number(/left-out:(\d+)/.exec(line)?.[1] ?? 1))
      return told.reduce((sum, count) => sum + count, 0) === 256
    })
  })

  test('goes by the rules of now for new targets, also where it was there before them', async () => {
    const at = `${agent.net}.1.9`
    await lease(agent.call, 'ruled', [`${at}/32`])
    const association = await associated('ruled', at)
    const open = await udpTarget('127.0.0.6')
    await answered(association, datagram(v4('127.0.0.6', open.port), 'before'), at)
    await lease(agent.call, 'ruled', [`${at}/32`], { denied_domains: ['public.test', '127.66.0.0/16'] })
    const denied = await udpSocket('127.66.0.1')
    let reached = 0
    denied.on('message', () => reached++)
    for (const to of [v4('127.66.0.1', denied.address().port), named('public.test', target.port)])
      association.client.send(datagram(to, 'denied'), association.port, at)
    await until('both to be refused', async () => {
      association.client.send(datagram(v4('127.66.0.1', denied.address().port), 'denied'), association.port, at)
      association.client.send(datagram(named('public.test', target.port), 'denied'), association.port, at)
      await answered(association, datagram(v4('127.0.0.6', open.port), 'still'), at)
      return true
    })
    expect(reached).toBe(0)
    expect(target.got.some(({ text }) => text === 'denied')).toBe(false)
  })

  test('keeps little of what waits for names, however many there are', async () => {
    const at = `${agent.net}.1.10`
    await lease(agent.call, 'waits', [`${at}/32`])
    const association = await associated('waits', at)
    const big = Buffer.alloc(30_000, 'w')
    await until('the names to be asked', async () => {
      for (let n = 0; n < 6; n++)
        association.client.send(datagram(named(`slow${n}.test`, target.port), big), association.port, at)
      await answered(association, datagram(v4('127.0.0.1', target.port), 'beside'), at)
      return slow.length === 6
    })
    for (const answer of slow) answer()
    await answered(association, datagram(v4('127.0.0.1', target.port), 'after'), at)
    // Two datagrams of 30,000 bytes fit into the queue.
    const arrived = (): number => target.got.filter(({ text }) => text.startsWith('www')).length
    const before = arrived()
    expect(before).toBeLessThanOrEqual(2)
    let later = slow.length
    await until('a datagram in the place of those that have left', async () => {
      association.client.send(datagram(named(`slow${later++}.test`, target.port), big), association.port, at)
      for (const answer of slow.splice(0)) answer()
      return arrived() > before
    })
  })

  test('is watched for abuse: floods of a target that does not answer, and many such targets', async () => {
    const watched = await testAgent({
      limits: { sweepMs: 20 },
      config: { abuse: { scan: 5, flood: 40, mail: 30, guessing: 30 } }
    })
    const at = `${watched.net}.1.1`
    await lease(watched.call, 'u', [`${at}/32`])
    const association = await associated('u', at, { port: watched.proxyPort })
    const mute = await udpSocket('127.0.0.1')
    const signs = async (): Promise<string[]> => {
      const { alarms } = (await watched.call('GET', '/api/alarms')).json as unknown as { alarms: AbuseSign[] }
      return alarms.map(({ kind }) => kind)
    }
    await until('the flood to be seen', async () => {
      for (let n = 0; n < 20; n++) {
        association.client.send(datagram(v4('127.0.0.1', mute.address().port), 'x'), association.port, at)
      }
      return (await signs()).includes('flood')
    })
    for (let n = 0; n < 9; n++)
      association.client.send(datagram(v4('127.0.3.1', 20_000 + n), 'x'), association.port, at)
    // This answer shows that the agent has handled the earlier datagrams.
    await answered(association, datagram(v4('127.0.0.1', target.port), 'x'), at)
    association.control.socket.destroy()
    await until('the scan to be seen', async () => (await signs()).includes('scan'))
  })

  test('of one user has its part of a turn that is over, and the rest is lost', async () => {
    const { plane, port: proxy } = await testPlane()
    const at = '127.0.0.1'
    const to = v4('127.0.0.1', target.port)
    const flooding = await Promise.all(Array.from({ length: 8 }, () => associated('u', at, { port: proxy })))
    const ask = plane.turns.isOver.bind(plane.turns)
    plane.turns.isOver = owner => ask(owner) || true
    const before = target.got.length
    // All of them wait at the sockets when the loop turns. The agent reads 32 of each at once.
    for (const { client, port } of flooding) for (let n = 0; n < 32; n++) client.send(datagram(to, 'flood'), port, at)
    await answered(flooding[0] as Association, datagram(to, 'after'), at)
    expect(target.got.slice(before).filter(({ text }) => text === 'flood').length).toBeLessThanOrEqual(64)
  })

  test('has so many associations of a user', async () => {
    const at = `${agent.net}.6.1`
    await lease(agent.call, 'many', [`${at}/32`])
    const open: Association[] = []
    while (open.length < 512)
      open.push(...(await Promise.all(Array.from({ length: 64 }, () => associated('many', at)))))
    expect(open.every(({ code }) => code === 0)).toBe(true)
    expect((await associated('many', at)).code).toBe(1)
    await until('the log', async () => / many \S+ SOCKS5 udp 429 .* too-many/.test(await log()))
    open[0]?.control.socket.destroy()
    await until('room', async () => (await associated('many', at)).code === 0)
  })

  test('counts empty datagrams like others, by their headers', async () => {
    const at = `${agent.net}.4.1`
    await lease(agent.call, 'empty', [`${at}/32`])
    const association = await associated('empty', at)
    await answered(association, datagram(v4('127.0.0.1', target.port), ''), at)
    association.control.socket.destroy()
    await until('the log', async () => {
      const [, up = '0', down = '0'] = /empty \S+ UDP \S+ 200 (\d+) (\d+)/.exec(await log()) ?? []
      return Number(up) >= 28 && Number(down) >= 28
    })
  })

  test('comes back to its owner where another program of the same address was first, and is not taken while in use', async () => {
    const { port, lines, pass } = await testPlane({ limits: { sweepMs: NEVER } })
    const at = '127.0.0.1'
    const owner = await associated('u', at, { port })
    const strange = { ...owner, client: await udpSocket('127.0.0.1'), answers: new Array<Buffer>() }
    strange.client.on('message', data => strange.answers.push(data))
    const to = v4('127.0.0.1', target.port)
    await answered(strange, datagram(to, 'strange'), at)
    // While it is in use, the other port gets nothing and the log says why.
    const before = target.got.length
    for (let n = 0; n < 3; n++) {
      pass(2000)
      owner.client.send(datagram(to, 'owner'), owner.port, at)
      await answered(strange, datagram(to, 'still strange'), at, 'got still strange')
    }
    expect(target.got.slice(before).map(({ text }) => text)).not.toContain('owner')
    expect(lines.filter(line => / u \S+ UDP - 409 .* udp-two-ports/.test(line))).toHaveLength(1)
    strange.answers.length = 0
    pass(3000)
    await answered(owner, datagram(to, 'owner'), at, 'got owner')
    expect(strange.answers.join('')).not.toContain('got owner')
  })

  test('goes with its user, and with silence', async () => {
    const [mine, quiet] = [`${agent.net}.3.1`, await testAgent({ limits: { sweepMs: 20, idleMs: 300 } })]
    await lease(agent.call, 'going', [`${agent.net}.3.0/30`])
    const association = await associated('going', mine)
    await answered(association, datagram(v4('127.0.0.1', target.port), 'here'), mine)
    await agent.call('DELETE', '/api/users/going')
    await association.control.over()
    await lease(quiet.call, 'u', [`${quiet.net}.1.0/30`])
    const idle = await associated('u', `${quiet.net}.1.1`, { port: quiet.proxyPort })
    await idle.control.over()
    await until('the log', async () =>
      / SOCKS5 udp 200 .* idle/.test((await quiet.call('GET', '/api/export/access.log')).text)
    )
  })

  test('is off by a setting, and SOCKS4 is refused in its own words', async () => {
    const off = await testAgent({ config: { udp: false } })
    await lease(off.call, 'u', [`${off.net}.1.0/30`])
    const { code } = await associated('u', `${off.net}.1.1`, { port: off.proxyPort })
    expect(code).toBe(7)
    await until('the log', async () => (await off.call('GET', '/api/export/access.log')).text.includes('udp-off'))
    for (const request of [
      '\x04\x01\x00\x50\x7f\x00\x00\x01me\x00',
      '\x04\x01\x00\x50\x00\x00\x00\x01me\x00a.test\x00'
    ]) {
      const client = new RawClient(ip, agent.proxyPort).send(request)
      expect([...Buffer.from(await client.over(), 'latin1')]).toEqual([0, 0x5b, 0, 0, 0, 0, 0, 0])
    }
    await until('the log', async () => / SOCKS4 - 400 0 8 0 socks4/.test(await log()))
  })
})
