// Runs alone in a network namespace of its own (see ipv6.test.ts) and prints what it saw as JSON.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startAgent } from '../src/agent.ts'
import { readConfig } from '../src/config.ts'

execFileSync('ip', ['link', 'set', 'lo', 'up'])
const folder = mkdtempSync(join(tmpdir(), 'netlet-v6-'))
const read = readConfig({ AGENT_ALLOW_DESTINATIONS: '::1/128,127.0.0.0/8', AGENT_TOKEN: 'token-of-this-test' })
if (!read.ok) throw new Error(read.message)
const started = await startAgent({ ...read.config, port: 0, proxyPort: 0, folder }, { log: pino({ level: 'silent' }) })
if (!started.ok) throw new Error(started.message)
const { agent } = started

const put = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
  const reply = await fetch(`http://127.0.0.1:${agent.port}${path}`, {
    method: 'PUT',
    headers: { authorization: 'Bearer token-of-this-test', 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  return (await reply.json()) as Record<string, unknown>
}

/** Tells its caller's address as an HTTP answer, whatever it is sent. */
const teller = createServer(socket => {
  socket.on('error', () => {})
  socket.once('data', () => {
    const from = `${socket.remoteAddress}`
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${from.length}\r\n\r\n${from}`)
  })
})
await new Promise<void>(resolve => teller.listen({ port: 0, host: '::' }, resolve))
const { port } = teller.address() as AddressInfo

/** Sends the pieces one after the other, each when an answer to the one before came; the last answer as text. */
const talk = (host: string, pieces: Array<string | Buffer>): Promise<string> =>
  new Promise(resolve => {
    const socket = connect({ host, port: agent.proxyPort })
    let text = ''
    const next = (): void => {
      const piece = pieces.shift()
      if (piece !== undefined) {
        text = ''
        socket.write(piece)
      }
    }
    socket.on('connect', next)
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      next()
    })
    socket.on('error', error => resolve(error.message))
    socket.on('close', () => resolve(text))
  })

const can = (host: string): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect({ host, port: agent.proxyPort })
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })

const before = await can('fd00:77:0:1::1')
const loaded = await put('/api/prefixes', { prefixes: ['fd00:77::/48', '10.77.0.0/16'] })
const user = { password: 'pw', denied_domains: [] }
const six = await put('/api/users/six', { ...user, prefixes: ['fd00:77:0:1::/64'] })
const four = await put('/api/users/four', { ...user, prefixes: ['10.77.1.1/32'] })
const listed = [six, four].map(reply => (reply['proxies'] as Array<{ ip: string }>).map(proxy => proxy.ip).join())

const auth = (name: string): string => `Proxy-Authorization: Basic ${Buffer.from(`${name}:pw`).toString('base64')}\r\n`
const get = (host: string, to: string, name: string): Promise<string> =>
  talk(host, [`GET http://${to}/ HTTP/1.1\r\nHost: x\r\n${auth(name)}Connection: close\r\n\r\n`])
const lastLine = (text: string): string => text.slice(text.lastIndexOf('\n') + 1)
const status = (text: string): number => Number(text.slice(9, 12))
const self6 = `[::1]:${port}`
const loopback = Buffer.concat([Buffer.from([5, 1, 0, 4]), Buffer.alloc(15), Buffer.from([1, port >> 8, port & 255])])

const result = {
  before,
  routes: loaded['routes'],
  listed,
  http: lastLine(await get('fd00:77:0:1:ab::9', self6, 'six')),
  connect: lastLine(
    await talk('fd00:77:0:1::1', [
      `CONNECT ${self6} HTTP/1.1\r\nHost: x\r\n${auth('six')}\r\n`,
      'GET / HTTP/1.1\r\n\r\n'
    ])
  ),
  socks: lastLine(
    await talk('fd00:77:0:1::2', [
      Buffer.from([5, 1, 2]),
      Buffer.from('\x01\x03six\x02pw', 'latin1'),
      loopback,
      'GET / HTTP/1.1\r\n\r\n'
    ])
  ),
  v4: lastLine(await get('10.77.1.1', `127.0.0.1:${port}`, 'four')).replace('::ffff:', ''),
  foreign: status(await get('fd00:77:0:2::1', self6, 'six')),
  refused: status(await get('fd00:77:0:1::1', '[fd00:77::1]', 'six')),
  gone: false
}
await fetch(`http://127.0.0.1:${agent.port}/api/users/six`, {
  method: 'DELETE',
  headers: { authorization: 'Bearer token-of-this-test' }
})
await put('/api/prefixes', { prefixes: ['10.77.0.0/16'] })
result.gone = !(await can('fd00:77:0:1::1'))
console.log(JSON.stringify(result))
await agent.close()
teller.close()
rmSync(folder, { recursive: true, force: true })
process.exit(0)
