import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { answerCache, CachingResolver, type Resolved } from './resolver.ts'

test('those who wait for one answer go on in several turns of the loop, each once', async () => {
  const resolver = new CachingResolver()
  let turn = 0
  const next = (): void => void setImmediate(() => (turn++, answered.length < 200 && next()))
  const answered: number[] = []
  next()
  await new Promise<void>(resolve => {
    // A label of 64 characters is invalid: the answer is asynchronous, but no server is asked.
    for (let n = 0; n < 200; n++)
      resolver.resolve(
        `${'a'.repeat(64)}.test`,
        4,
        answer => {
          expect(answer).toEqual({ ok: false, reason: 'not-found' })
          answered.push(turn)
          if (answered.length === 200) resolve()
        },
        'u'
      )
    expect(answered).toHaveLength(0)
  })
  const turns = [...Map.groupBy(answered, at => at).values()]
  expect(Math.max(...turns.map(({ length }) => length))).toBeLessThanOrEqual(16)
  expect(resolver.figures.lookups).toBe(1)
})

/** A name server that answers "no such name", and does not answer at all for names under `silent.test`. */
async function nameServer(): Promise<{ servers: string[]; asked: string[]; isDown: boolean }> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  const server = { servers: [`127.0.0.1:${socket.address().port}`], asked: new Array<string>(), isDown: false }
  socket.on('message', (question, from) => {
    const labels: string[] = []
    let at = 12
    for (let length = question[at]; length; length = question[at]) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    server.asked.push(labels.join('.'))
    if (server.isDown || labels.at(-2) === 'silent') return
    const head = Buffer.from([0, 0, 0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0])
    question.copy(head, 0, 0, 2)
    socket.send(Buffer.concat([head, question.subarray(12, at + 5)]), from.port, from.address)
  })
  return server
}

test("name servers count as failing only if they do not answer the agent's own questions", async () => {
  const server = await nameServer()
  const options = { servers: server.servers, timeout: 250, tries: 1, againMs: 50 }
  const resolver = new CachingResolver(options)
  onTestFinished(() => resolver.close())
  const look = (name: string): Promise<unknown> => new Promise(answered => resolver.resolve(name, 4, answered, 'u'))
  await Promise.all(Array.from({ length: 20 }, (_, n) => look(`n${n}.silent.test`)))
  await expect.poll(() => server.asked.filter(name => name.endsWith('.com')).length).toBeGreaterThan(0)
  expect(resolver.figures).toMatchObject({ lookups: 20, failures: 20, failing: 0 })

  const alone = new CachingResolver(options)
  onTestFinished(() => alone.close())
  server.isDown = true
  // One customer's question starts the check.
  await new Promise(answered => alone.resolve('open.test', 4, answered, 'u'))
  await expect.poll(() => alone.figures.failing).toBe(1)
  server.isDown = false
  await expect.poll(() => alone.figures.failing).toBe(0)
})

test('when the machine replaces silent name servers, the new ones are asked without a restart', async () => {
  const [old, other] = [await nameServer(), await nameServer()]
  const options = { servers: old.servers, timeout: 250, tries: 1, againMs: 50 }
  const resolver = new CachingResolver(options)
  onTestFinished(() => resolver.close())
  const look = (name: string): Promise<unknown> => new Promise(answered => resolver.resolve(name, 4, answered, 'u'))
  await look('first.test')
  old.isDown = true
  options.servers = other.servers
  await look('lost.test')
  await expect.poll(() => other.asked.filter(name => name.endsWith('.com') || name.endsWith('.org')).length).toBe(1)
  await look('found.test')
  expect(other.asked).toContain('found.test')
  expect(old.asked).not.toContain('found.test')
  expect(resolver.figures.failing).toBe(0)
})

/** A name server whose names all have `count` addresses, which it sends over TCP. */
async function largeZone(count: number): Promise<{ servers: string[]; asked: () => number }> {
  let asked = 0
  const open = new Set<Socket>()
  const tcp = createServer(socket => {
    open.add(socket)
    socket.on('error', () => undefined)
    let questions = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      questions = Buffer.concat([questions, chunk])
      for (let end; questions.length > 2 && questions.length >= (end = 2 + questions.readUInt16BE(0));) {
        asked++
        const answer = answerTo(questions.subarray(2, end), count)
        questions = questions.subarray(end)
        socket.write(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]))
      }
    })
  })
  await once(tcp.listen(0, '127.0.0.1'), 'listening')
  const { port } = tcp.address() as AddressInfo
  const udp = createSocket('udp4').bind(port, '127.0.0.1')
  await once(udp, 'listening')
  udp.on('message', (question, from) => {
    const truncated = answerTo(question, 0)
    truncated[2] = 0x87
    udp.send(truncated, from.port, from.address)
  })
  onTestFinished(() => {
    udp.close()
    tcp.close()
    for (const socket of open) socket.destroy()
  })
  return { servers: [`127.0.0.1:${port}`], asked: () => asked }
}

function answerTo(question: Buffer, count: number): Buffer {
  const head = Buffer.from([0, 0, 0x85, 0, 0, 1, count >> 8, count & 255, 0, 0, 0, 0])
  question.copy(head, 0, 0, 2)
  const records = Array.from({ length: count }, (_, n) => [
    192,
    12,
    0,
    1,
    0,
    1,
    0,
    0,
    1,
    44,
    0,
    4,
    10,
    9,
    n >> 8,
    n & 255
  ])
  return Buffer.concat([head, question.subarray(12, question.indexOf(0, 12) + 5), Buffer.from(records.flat())])
}

test('the first addresses of a very large answer are kept, and its user waits before the next question', async () => {
  const zone = await largeZone(3000)
  const resolver = new CachingResolver({ servers: zone.servers, timeout: 20_000, tries: 1, againMs: 50 })
  const look = (name: string, user: string): Promise<Resolved> =>
    new Promise(answered => resolver.resolve(name, 4, answered, user))
  const addresses = Array.from({ length: 64 }, (_, n) => `10.9.0.${n}`)
  expect(await look('a.test', 'u')).toEqual({ ok: true, addresses })
  // A question that waits for one user is asked at once for another, who does not have to wait.
  const waiting = Promise.all([look('b.test', 'u'), look('b.test', 'u')])
  expect(resolver.figures.lookups).toBe(1)
  expect(await look('b.test', 'other')).toEqual({ ok: true, addresses })
  expect(await waiting).toHaveLength(2)
  expect(await look('a.test', 'u')).toEqual({ ok: true, addresses })
  expect(zone.asked()).toBe(2)
})

/** A resolver with all places of one user held by names without an answer. */
async function fullResolver() {
  const server = await nameServer()
  const resolver = new CachingResolver({ servers: server.servers, timeout: 250, tries: 1, againMs: 50 })
  onTestFinished(() => resolver.close())
  const look = (name: string): Promise<unknown> => new Promise(answered => resolver.resolve(name, 4, answered, 'u'))
  const silent = Array.from({ length: 32 }, (_, n) => look(`n${n}.silent.test`))
  return { server, resolver, look, silent }
}

test('a name waits once for a user, even if many connections need it', async () => {
  const { resolver, look, silent } = await fullResolver()
  const many = Array.from({ length: 2000 }, () => look('open.test'))
  const late = look('late.test')
  await Promise.all(silent)
  for (const answer of await Promise.all([...many, late])) expect(answer).toMatchObject({ reason: 'not-found' })
  expect(resolver.figures.lookups).toBe(34)
})

test('a name that waited too long is not asked for, unless someone needed it recently', async () => {
  const { server, look, silent } = await fullResolver()
  const [late, open] = [look('late.test'), look('open.test')]
  const later = performance.now() + 11_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => later)
  onTestFinished(() => clock.mockRestore())
  const again = look('open.test')
  await Promise.all(silent)
  expect(await late).toEqual({ ok: false, reason: 'timeout' })
  expect(await Promise.all([open, again])).toMatchObject([{ reason: 'not-found' }, { reason: 'not-found' }])
  expect(server.asked).not.toContain('late.test')
  expect(await look('late.test')).toMatchObject({ reason: 'not-found' })
})

test('the cache of answers is limited by bytes', () => {
  const cache = answerCache(1_000_000)
  const addresses = Array.from({ length: 64 }, (_, n) => `2001:db8:1111:2222:3333:4444:5555:${n}`)
  for (let n = 0; n < 1000; n++) cache.set(`6 n${n}.test`, { ok: true, addresses })
  expect(cache.size).toBeGreaterThan(100)
  expect(cache.size).toBeLessThan(250)
  for (let n = 0; n < 2000; n++) cache.set(`4 n${n}.test`, { ok: true, addresses: ['192.0.2.1'] })
  expect(cache.size).toBeGreaterThan(2000)
})
