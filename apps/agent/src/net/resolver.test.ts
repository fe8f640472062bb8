import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { CachingResolver } from './resolver.ts'

test('who waits for one answer goes on in several turns of the loop, each once', async () => {
  const resolver = new CachingResolver()
  let turn = 0
  const next = (): void => void setImmediate(() => (turn++, answered.length < 200 && next()))
  const answered: number[] = []
  next()
  await new Promise<void>(resolve => {
    // A label of 64 characters is no name: the answer comes without a question to anybody, and not at once.
    for (let n = 0; n < 200; n++)
      resolver.resolve(`${'a'.repeat(64)}.test`, 4, answer => {
        expect(answer).toEqual({ ok: false, reason: 'not-found' })
        answered.push(turn)
        if (answered.length === 200) resolve()
      })
    expect(answered).toHaveLength(0)
  })
  const turns = [...Map.groupBy(answered, at => at).values()]
  expect(Math.max(...turns.map(({ length }) => length))).toBeLessThanOrEqual(16)
  expect(resolver.figures.lookups).toBe(1)
})

/** A name server that says of every name that there is none, but says nothing of those under `silent.test`. */
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

test('name servers fail where they answer no questions of the agent either, whatever customers ask for', async () => {
  const server = await nameServer()
  const options = { servers: server.servers, timeout: 50, tries: 1, againMs: 50 }
  const resolver = new CachingResolver(options)
  onTestFinished(() => resolver.close())
  const look = (name: string): Promise<unknown> => new Promise(answered => resolver.resolve(name, 4, answered))
  await Promise.all(Array.from({ length: 50 }, (_, n) => look(`n${n}.silent.test`)))
  await expect.poll(() => server.asked.filter(name => name.endsWith('.com')).length).toBeGreaterThan(0)
  expect(resolver.figures).toMatchObject({ lookups: 50, failures: 50, failing: 0 })

  const alone = new CachingResolver(options)
  onTestFinished(() => alone.close())
  server.isDown = true
  // One question of one customer is enough.
  await new Promise(answered => alone.resolve('open.test', 4, answered))
  await expect.poll(() => alone.figures.failing).toBe(1)
  server.isDown = false
  await expect.poll(() => alone.figures.failing).toBe(0)
})
