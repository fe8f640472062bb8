// Runs in its own network namespace (see ipv6-egress.test.ts) and prints its results as JSON.
import { execFileSync, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Agent, startAgent } from '../src/agent.ts'
import { readConfig } from '../src/config.ts'
import { isLong } from '../../../scripts/testing/tier.ts'
import { defaultLimits } from '../src/proxy/limits.ts'

execFileSync('ip', ['link', 'set', 'lo', 'up'])
const folder = mkdtempSync(join(tmpdir(), 'netlet-exit-'))
const start = async (): Promise<Agent> => {
  const read = readConfig({ AGENT_ALLOW_DESTINATIONS: '::1/128,127.0.0.0/8', AGENT_TOKEN: 'token-of-this-test' })
  if (!read.ok) throw new Error(read.message)
  const limits = { ...defaultLimits, connectionsPerAddress: 6 }
  const started = await startAgent(
    { ...read.config, limits, workers: 0, port: 0, proxyPort: 0, folder },
    { log: pino({ level: 'silent' }) }
  )
  if (!started.ok) throw new Error(started.message)
  return started.agent
}
let agent = await start()

const call = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
  const reply = await fetch(`http://127.0.0.1:${agent.port}${path}`, {
    method,
    headers: { authorization: 'Bearer token-of-this-test', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return (await reply.json()) as Record<string, unknown>
}
const put = (user: string, more: Record<string, unknown>): Promise<Record<string, unknown>> =>
  call('PUT', `/api/users/${user}`, { password: 'pw', denied_domains: [], ...more })

/** Answers each HTTP request with the caller's address, and keeps the connection open. */
const addressServer = createServer(socket => {
  socket.on('error', () => {})
  socket.on('data', () => {
    const from = `${socket.remoteAddress}`
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${from.length}\r\n\r\n${from}`)
  })
})
await new Promise<void>(resolve => addressServer.listen({ port: 0, host: '::' }, resolve))
const { port } = addressServer.address() as AddressInfo
const target = `[::1]:${port}`
const udpAddressServer = createSocket('udp6')
udpAddressServer.on('message', (_data, from) => udpAddressServer.send(from.address, from.port, from.address))
await new Promise<void>(resolve => udpAddressServer.bind({ port: 0, address: '::1' }, resolve))
const udpPort = udpAddressServer.address().port

class Client {
  readonly socket
  #data = Buffer.alloc(0)
  #closed = false
  #wake = (): void => {}
  constructor(host: string) {
    this.socket = connect({ host, port: agent.proxyPort })
    this.socket.on('data', chunk => {
      this.#data = Buffer.concat([this.#data, chunk])
      this.#wake()
    })
    this.socket.on('error', () => {})
    this.socket.on('close', () => {
      this.#closed = true
      this.#wake()
    })
  }
  /** Sends a piece. Returns what arrives until `isEnough` accepts it or the connection ends. */
  async say(piece: string | Buffer, isEnough: (data: Buffer) => boolean): Promise<Buffer> {
    this.socket.write(piece)
    while (!isEnough(this.#data) && !this.#closed) await new Promise<void>(resolve => (this.#wake = resolve))
    const data = this.#data
    this.#data = Buffer.alloc(0)
    return data
  }
}
const isAnswer = (data: Buffer): boolean => {
  const text = data.toString('latin1')
  const at = text.indexOf('\r\n\r\n')
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
  return at >= 0 && text.length >= at + 4 + length
}
const auth = (name: string): string => `Proxy-Authorization: Basic ${Buffer.from(`${name}:pw`).toString('base64')}\r\n`
const body = (data: Buffer): string => data.toString('latin1').split('\r\n\r\n')[1] ?? ''
const status = (data: Buffer): number => Number(data.toString('latin1').slice(9, 12))
const request = (name: string): string => `GET http://${target}/ HTTP/1.1\r\nHost: x\r\n${auth(name)}\r\n`

/** The exit addresses of a user's HTTP request, a second one on the same connection, a CONNECT and a SOCKS5 tunnel. */
async function exitAddresses(host: string, name: string): Promise<string[]> {
  const http = new Client(host)
  const first = await http.say(request(name), isAnswer)
  const kept = await http.say(request(name), isAnswer)
  http.socket.destroy()
  const tunnel = new Client(host)
  await tunnel.say(`CONNECT ${target} HTTP/1.1\r\nHost: x\r\n${auth(name)}\r\n`, isAnswer)
  const inside = await tunnel.say('GET / HTTP/1.1\r\n\r\n', isAnswer)
  tunnel.socket.destroy()
  const socks = await socksClient(host, name)
  await socks.say(socksRequest(1, port), data => data.length >= 10)
  const through = await socks.say('GET / HTTP/1.1\r\n\r\n', isAnswer)
  socks.socket.destroy()
  return [first, kept, inside, through].map(body)
}
const socksRequest = (command: number, to: number): Buffer =>
  Buffer.concat([Buffer.from([5, command, 0, 4]), Buffer.alloc(15), Buffer.from([1, to >> 8, to & 255])])
async function socksClient(host: string, name: string): Promise<Client> {
  const client = new Client(host)
  await client.say(Buffer.from([5, 1, 2]), data => data.length >= 2)
  const login = Buffer.from(`\x01${String.fromCharCode(name.length)}${name}\x02pw`, 'latin1')
  const answer = await client.say(login, data => data.length >= 2)
  if (answer[1] !== 0) throw new Error(`SOCKS log-in of ${name}`)
  return client
}
async function udpExit(host: string, name: string): Promise<string> {
  const client = await socksClient(host, name)
  const answer = await client.say(socksRequest(3, 0), data => data.length >= 22)
  const relay = answer.readUInt16BE(20)
  const socket = createSocket('udp6')
  const told = new Promise<string>(resolve =>
    socket.on('message', data => resolve(data.subarray(22).toString('latin1')))
  )
  await new Promise<void>(resolve => socket.bind({ port: 0, address: '::1' }, resolve))
  const data = Buffer.concat([
    Buffer.from([0, 0, 0, 4]),
    Buffer.alloc(15),
    Buffer.from([1, udpPort >> 8, udpPort & 255]),
    Buffer.from('hello')
  ])
  socket.send(data, relay, host)
  const from = await told
  socket.close()
  client.socket.destroy()
  return from
}
const refusal = (host: string, name: string): Promise<string> => asked(host, name, `http://${target}/`)

const net = 'fd00:77:0'
const isLocal = (host: string): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect({ host, port: agent.proxyPort })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
const local = [await isLocal(`${net}:1::1`)]
await call('PUT', '/api/prefixes', { prefixes: ['fd00:77::/48', '10.77.0.0/16'] })
local.push(await isLocal(`${net}:1::1`))
const replies = {
  fixed: (await put('fixed', { prefixes: [`${net}:1::/64`] }))['egress'],
  request: (await put('turns', { prefixes: [`${net}:2::/64`], egress: 'request' }))['egress'],
  session: (await put('sticky', { prefixes: [`${net}:3::/64`, `${net}:5::/64`], egress: 'session' }))['egress'],
  v4: (await put('four', { prefixes: ['10.77.1.1/32'], egress: 'request' }))['reason'],
  narrow: (await put('narrow', { prefixes: [`${net}:4::/65`], egress: 'session' }))['reason'],
  both: (await put('both', { prefixes: [`${net}:4::/64`, '10.77.1.2/32'], egress: 'session' }))['reason']
}
// Another user of the same /64, and a user whose name looks like a session of the first one.
await put('other', { prefixes: [`${net}:3::/64`], egress: 'session' })
await put('sticky-session-real', { prefixes: [`${net}:3::/64`] })
await put('four', { prefixes: ['10.77.1.1/32'] })

const fixed = await exitAddresses(`${net}:1::1`, 'fixed')
const within = await exitAddresses(`${net}:1:ab::9`, 'fixed')
const asked = async (host: string, name: string, url: string): Promise<string> => {
  const client = new Client(host)
  const data = await client.say(`GET ${url} HTTP/1.1\r\nHost: x\r\n${auth(name)}\r\n`, isAnswer)
  client.socket.destroy()
  return `${status(data)} ${body(data).trim()}`
}
const v4 = await asked('10.77.1.1', 'four', `http://127.0.0.1:${port}/`)
const own = await asked(`${net}:1::1`, 'fixed', `http://[fd00:77::1]:${port}/`)
const turns = [...(await exitAddresses(`${net}:2::1`, 'turns')), ...(await exitAddresses(`${net}:2::1`, 'turns'))]
const turnsUdp = [await udpExit(`${net}:2::1`, 'turns'), await udpExit(`${net}:2::1`, 'turns')]
const abc = await exitAddresses(`${net}:3::1`, 'sticky-session-abc')
const session = {
  abc,
  udp: await udpExit(`${net}:3::1`, 'sticky-session-abc'),
  again: await exitAddresses(`${net}:3::1`, 'sticky-session-abc'),
  def: await exitAddresses(`${net}:3::1`, 'sticky-session-def'),
  other: await exitAddresses(`${net}:3::1`, 'other-session-abc'),
  elsewhere: await exitAddresses(`${net}:5::1`, 'sticky-session-abc'),
  none: await exitAddresses(`${net}:3::1`, 'sticky'),
  real: await exitAddresses(`${net}:3::1`, 'sticky-session-real')
}
// On a kept connection each request leaves from the address of its own session.
const mixed = new Client(`${net}:3::1`)
const names = ['sticky-session-abc', 'sticky-session-def', 'sticky']
const perRequest: string[] = []
for (const name of names) perRequest.push(body(await mixed.say(request(name), isAnswer)))
mixed.socket.destroy()

const refusals = {
  fixed: await refusal(`${net}:1::1`, 'fixed-session-abc'),
  turns: await refusal(`${net}:2::1`, 'turns-session-abc'),
  v4: await refusal('10.77.1.1', 'four-session-abc'),
  badName: await refusal(`${net}:3::1`, 'sticky-session-a.b'),
  longName: await refusal(`${net}:3::1`, `sticky-session-${'a'.repeat(33)}`),
  nobody: await refusal(`${net}:3::1`, 'nobody-session-abc'),
  wrongAddress: await refusal(`${net}:1::1`, 'sticky-session-abc')
}
const bound = await socksClient(`${net}:1::1`, 'fixed-session-abc').then(
  () => 'let in',
  () => 'refused'
)

// A user who rotates has the limits of the one leased address.
const held: Client[] = []
const opened: number[] = []
for (let n = 0; n < 8; n++) {
  const client = new Client(`${net}:2::1`)
  const hello = `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n${auth('turns')}\r\n`
  opened.push(status(await client.say(hello, isAnswer)))
  held.push(client)
}
for (const client of held) client.socket.destroy()

const traffic = (await call('GET', '/api/traffic')) as { rows: { user: string; ip: string; codes: object }[] }
const counted = traffic.rows.map(({ user, ip }) => `${user} ${ip}`).toSorted()
const codes = traffic.rows.find(({ user }) => user === 'fixed')?.codes

const onLink = 'fd00:99::8000:0/97'
/**
 * Connects a network with another machine, whose neighbour discovery for the agent's part of the link gets no answer.
 * @returns what removes the other machine
 */
async function joinNetwork(): Promise<() => void> {
  const there = spawn(
    'unshare',
    [
      '--net',
      process.execPath,
      '-e',
      "require('net').createServer(s => s.end()).listen(4000, '::', () => console.log('up'))"
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] }
  )
  await new Promise(resolve => there.stdout.once('data', resolve))
  const ip = (line: string, inside: string[] = []): void => {
    const [file = '', ...args] = [...inside, 'ip', ...line.split(' ')]
    execFileSync(file, args)
  }
  const other = ['nsenter', '-t', `${there.pid}`, '-n']
  ip(`link add v0 type veth peer name v1 netns ${there.pid}`)
  ip('-6 addr add fd00:99::5/64 dev v0 nodad')
  ip('link set v0 up')
  ip('-6 addr add fd00:99::1/64 dev v1 nodad', other)
  ip('link set v1 up', other)
  return () => void there.kill('SIGKILL')
}
/** Not every system supports veth pairs. */
const leave = process.argv.includes('veth') ? await joinNetwork() : null
const ranges = ['fd00:77::/48', '10.77.0.0/16', ...(leave === null ? [] : [onLink])]
await call('PUT', '/api/prefixes', { prefixes: ranges })

// Targets that answer, that refuse, that have no route, and that only the server itself can reach.
const info = (await call('GET', '/api/view-server-info')) as { data: { routes: { prefix: string; link?: string }[] } }
const links = info.data.routes.map(({ prefix, link = '-' }) => `${prefix} ${link}`)
const check = async (prefix: string, host: string, to = port): Promise<Record<string, unknown>> =>
  call('POST', '/api/check-exit', { prefix, targets: [{ host, port: to }] })
const checks = {
  there: await check('fd00:77::/48', '::1'),
  refused: await check('fd00:77::/48', '::1', 1),
  nowhere: await check('fd00:77::/48', 'fd00:88::1'),
  onLink: leave === null ? null : await check(onLink, 'fd00:99::1', 4000),
  foreign: (await check('fd00:66::/48', '::1'))['reason'],
  bad: (await check('fd00:77::/48', 'a b'))['reason']
}

leave?.()

/** Ranges that the next start makes local. */
const [many, wide] = isLong ? [4096, 256] : [64, 16]
const more = [
  ...Array.from({ length: many }, (_, n) => `10.${100 + (n >> 8)}.${n & 255}.0/24`),
  ...Array.from({ length: wide }, (_, n) => `fd01:${n.toString(16)}::/48`)
]
await call('PUT', '/api/prefixes', { prefixes: ['fd00:77::/48', '10.77.0.0/16', ...more] })
await agent.close()
const log = readFileSync(join(folder, 'access.log'), 'utf8').trim().split('\n')
agent = await start()
const startedWith = agent.routes.state.filter(route => route.local).length
const restarted = await exitAddresses(`${net}:3::1`, 'sticky-session-abc')
await call('POST', '/api/delete-all-users', {})
await call('PUT', '/api/prefixes', { prefixes: ['10.77.0.0/16'] })
local.push(await isLocal(`${net}:1::1`))
await agent.close()

console.log(
  JSON.stringify({
    replies,
    local,
    started: startedWith - more.length,
    fixed,
    within,
    v4,
    own,
    turns,
    turnsUdp,
    session,
    perRequest,
    refusals,
    bound,
    opened,
    counted,
    codes,
    restarted,
    links,
    checks,
    logged: log.filter(line => line.includes(` turns ${net}:2::1 `) && / ok fd00:77:0:2:[0-9a-f:]+$/.test(line)).length,
    loggedFixed: log.filter(line => / fixed fd00:77:0:1::1 .* ok$/.test(line)).length
  })
)
addressServer.close()
udpAddressServer.close()
rmSync(folder, { recursive: true, force: true })
process.exit(0)
