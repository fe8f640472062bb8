import { beforeAll, describe, expect, test } from 'vitest'
import { guardedAgent, type Guarded } from './guarded.ts'
import { basic, proxied, RawClient, tcpTarget } from './test-agent.ts'

let agent: Guarded['agent']
let ip: string
let target: Guarded['target']
beforeAll(async () => {
  ;({ agent, ip, target } = await guardedAgent())
})

/** A target that answers the first bytes of each connection with `answer`. */
const answering = (answer: string): ReturnType<typeof tcpTarget> =>
  tcpTarget(socket => socket.once('data', () => socket.write(answer, 'latin1')))

/** A target that records what it receives and answers each piece. */
async function recording(): Promise<{ host: string; text: () => string }> {
  let text = ''
  const { host } = await tcpTarget(socket =>
    socket.on('data', (piece: Buffer) => {
      text += piece.toString('latin1')
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  )
  return { host, text: () => text }
}

describe('answers that browsers read are written properly', () => {
  test.each([
    ['line feeds alone', 'HTTP/1.1 200 OK\nX-A: 1\nContent-Length: 2\n\nok', ['X-A: 1']],
    ['a line feed alone before the empty line', 'HTTP/1.1 200 OK\r\nContent-Length: 2\nX-A: 1\n\r\nok', ['X-A: 1']],
    ['an empty line of a line feed alone', 'HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 2\r\n\nok', ['X-A: 1']],
    ['a blank before the colon', 'HTTP/1.1 200 OK\r\nServer : x\r\nContent-Length\t: 2\r\n\r\nok', ['Server: x']],
    ['a folded line', 'HTTP/1.1 200 OK\r\nX-A: 1\r\n\t 2\r\n 3\r\nContent-Length: 2\r\n\r\nok', ['X-A: 1 2 3']],
    ['a length said twice in one line', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok', ['Content-Length: 2']],
    ['a length said in two lines', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok', []],
    ['a length said again as nothing', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: \r\n\r\nok', []],
    ['no encoding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok', []],
    [
      'a length that Connection names',
      'HTTP/1.1 200 OK\r\nX-Hop: 1\r\nX-A: 1\r\nConnection: content-length, x-hop\r\nContent-Length: 2\r\n\r\nok',
      ['X-A: 1', 'Content-Length: 2']
    ]
  ])('%s', async (_name, answer, lines) => {
    const got = await proxied(ip, agent.proxyPort, 'u', `http://${(await answering(answer)).host}/`)
    expect([got.status, got.body]).toEqual([200, 'ok'])
    for (const line of lines) expect(got.head.split('\r\n')).toContain(line)
    expect(got.head.match(/content-length/gi)).toHaveLength(1)
    expect(got.head.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  })

  test('where nothing has to be mended, the client gets it as it came', async () => {
    const head = 'HTTP/1.1 200 Quite OK\r\nContent-Length: 2\r\nx-b:1\r\nX-a:  2 '
    const { host } = await answering(`${head}\r\n\r\nok`)
    const client = new RawClient(ip, agent.proxyPort)
    client.send(`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n${basic('u')}\r\n`)
    const [got] = await client.take(/[^]*ok/)
    expect(got).toBe(`${head}\r\n\r\nok`)
  })

  test('a radio stream that answers as ICY goes on until it ends', async () => {
    const { host } = await tcpTarget(socket =>
      socket.once('data', () => socket.end('ICY 200 OK\r\nicy-name: One\r\nicy-metaint: 8192\r\n\r\nmusic'))
    )
    const got = await proxied(ip, agent.proxyPort, 'u', `http://${host}/`)
    expect([got.status, got.body]).toEqual([200, 'music'])
    expect(got.head).toMatch(/^HTTP\/1\.1 200 OK\r\nicy-name: One\r\nicy-metaint: 8192\r\n/)
  })

  test('what ends a body is not said of an answer that has none', async () => {
    const { host } = await answering('HTTP/1.1 204 Done\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n')
    const got = await proxied(ip, agent.proxyPort, 'u', `http://${host}/`)
    expect(got.head).toMatch(/^HTTP\/1\.1 204 Done\r\nX-A: 1(?!.*chunked)/s)
  })

  test.each([
    ['two lengths in one line', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nok'],
    ['an empty length', 'HTTP/1.1 200 OK\r\nContent-Length: ,\r\n\r\nok'],
    ['a folded line before the first header', 'HTTP/1.1 200 OK\r\n X-A: 1\r\n : 2\r\nb\r\n\r\nok'],
    ['a no-break space around an encoding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: \xa0chunked\r\n\r\n0\r\n\r\n']
  ])('but not %s', async (_name, answer) => {
    expect((await proxied(ip, agent.proxyPort, 'u', `http://${(await answering(answer)).host}/`)).status).toBe(502)
  })
})

describe('requests', () => {
  test('for ws:// go to the target as those for http:// do', async () => {
    const { host, text } = await recording()
    const client = new RawClient(ip, agent.proxyPort)
    client.send(`GET ws://${host}/chat HTTP/1.1\r\nHost: ${host}\r\n${basic('u')}Connection: close\r\n\r\n`)
    await client.take(/ 200 OK/)
    expect(text()).toMatch(/^GET \/chat HTTP\/1\.1\r\n/)
  })

  test('of OPTIONS without a path ask the server as a whole', async () => {
    const { host, text } = await recording()
    expect((await proxied(ip, agent.proxyPort, 'u', `http://${host}/x`, { method: 'OPTIONS' })).status).toBe(200)
    const client = new RawClient(ip, agent.proxyPort)
    client.send(`OPTIONS http://${host} HTTP/1.1\r\nHost: ${host}\r\n${basic('u')}Connection: close\r\n\r\n`)
    await client.take(/ 200 OK/)
    expect(text()).toMatch(/^OPTIONS \/x HTTP\/1\.1\r\n[^]*\r\nOPTIONS \* HTTP\/1\.1\r\n/)
  })

  test('keep their first line if Connection names it', async () => {
    const { host, text } = await recording()
    const headers = 'Connection: get /a, x-hop\r\nX-Hop: 1\r\nX-End: 2\r\n'
    const client = new RawClient(ip, agent.proxyPort)
    client.send(`GET http://${host}/a:b HTTP/1.1\r\nHost: ${host}\r\n${basic('u')}${headers}\r\n`)
    await client.take(/ 200 OK/)
    expect(text()).toMatch(/^GET \/a:b HTTP\/1\.1\r\n/)
    expect(text()).toContain('X-End: 2')
    expect(text()).not.toContain('X-Hop')
  })

  test.each(['\xa0chunked', 'chunked\xa0', '\x85chunked'])('with the encoding %j are refused', async value => {
    const headers = `Transfer-Encoding: ${value}\r\n`
    const got = await proxied(ip, agent.proxyPort, 'u', `http://${target.host}/`, { method: 'POST', headers })
    expect(got.status).toBe(400)
  })

  test('are all answered where the client ends its side after them', async () => {
    const client = new RawClient(ip, agent.proxyPort)
    const get = (path: string): string => `GET http://${target.host}${path} HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`
    client.send(get('/1') + get('/2') + `GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n` + get('/3'))
    client.socket.end()
    const text = await client.over()
    expect([...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)).toEqual(['200', '200', '403', '200'])
    for (const path of ['/1', '/2', '/3']) expect(text).toContain(`"url":"${path}"`)
  })

  test.each([
    ['a refused target', '10.0.0.1:443', basic('u'), 403],
    ['no password', '127.0.0.1:443', '', 407]
  ])('are not read out of what was meant for a tunnel: %s', async (_name, to, credentials, status) => {
    const before = target.requests()
    const early = `GET http://${target.host}/early HTTP/1.1\r\nHost: x\r\n${basic('u')}\r\n`
    const client = new RawClient(ip, agent.proxyPort)
    client.send(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n${credentials}\r\n${early}`)
    const text = await client.over()
    expect([...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, each]) => Number(each))).toEqual([status])
    expect(target.requests()).toBe(before)
  })

  test('for a tunnel may bring the password on the same connection', async () => {
    const client = new RawClient(ip, agent.proxyPort)
    client.send(`CONNECT ${target.host} HTTP/1.1\r\nHost: ${target.host}\r\n\r\n`)
    await client.take(/^HTTP\/1\.1 407 [^]*?\r\n\r\n/)
    client.send(`CONNECT ${target.host} HTTP/1.1\r\nHost: ${target.host}\r\n${basic('u')}\r\n`)
    await client.take(/HTTP\/1\.1 200 /)
  })
})
