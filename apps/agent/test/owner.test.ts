// Which console owns an agent, and what the agent accepts from others.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAgent } from '../src/agent.ts'
import { onEnd, RawClient, silent, tempFolder, testAgent, testConfig, token, type Json } from './test-agent.ts'

const body = { password: 'secret', prefixes: [], denied_domains: [] }
const ours = { id: 'console-1', name: 'Shop', server: '7', mark: 'm1' }

async function owned() {
  const agent = await testAgent()
  const send = async (method: string, path: string, payload?: unknown, who?: string) => {
    const response = await fetch(`http://127.0.0.1:${agent.port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...(who === undefined ? {} : { 'netlet-console': who })
      },
      ...(payload === undefined ? {} : { body: JSON.stringify(payload) })
    })
    return { status: response.status, json: (await response.json()) as Json }
  }
  const claim = (more: object = {}) => send('PUT', '/api/owner', { ...ours, ...more })
  return { agent, send, claim }
}

test('an agent without an owner takes changes from anyone with the token, and belongs to the first console that claims it', async () => {
  const { send, claim } = await owned()
  expect((await send('PUT', '/api/users/before', body)).status).toBe(200)
  expect((await send('GET', '/api/state')).json['owner']).toBeNull()
  expect((await claim()).json).toEqual({ owner: ours })
  expect((await send('GET', '/api/state')).json['owner']).toEqual(ours)
  expect((await send('GET', '/api/view-server-info')).json['data']?.['owner']).toEqual(ours)
})

test('a change whose body takes its time is judged once more when it is here', async () => {
  const { agent, send, claim } = await owned()
  const late = new RawClient('127.0.0.1', agent.port)
  const text = JSON.stringify(body)
  late.send(
    `PUT /api/users/late HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text.slice(0, 10)}`
  )
  // This call returns after the agent has judged the head of the first one.
  await send('GET', '/api/state')
  await claim()
  late.send(text.slice(10))
  expect(await late.over()).toMatch(/^HTTP\/1\.1 409 [^]*foreignConsole/)
  expect((await send('GET', '/api/state')).json['users']).toEqual([])
})

test('it says whose it is to another console, and changes nothing', async () => {
  const { send, claim } = await owned()
  await claim()
  const refusal = {
    status: 409,
    reason: 'foreignConsole',
    msg: 'This agent belongs to another console. (Shop, console-1)',
    owner: ours
  }
  expect(await claim({ id: 'console-2', name: 'Copy' })).toEqual({ status: 409, json: refusal })
  for (const [method, path, payload] of [
    ['PUT', '/api/users/stranger', body],
    ['DELETE', '/api/users/stranger', undefined],
    ['PUT', '/api/prefixes', { prefixes: [] }],
    ['POST', '/api/delete-all-users', {}]
  ] as const) {
    expect(await send(method, path, payload, 'console-2')).toEqual({ status: 409, json: refusal })
    // Only the classic verbs work without a console's name.
    if (method !== 'POST') expect((await send(method, path, payload)).status).toBe(409)
  }
  expect((await send('GET', '/api/state', undefined, 'console-2')).status).toBe(200)
  expect((await send('PUT', '/api/users/mine', body, 'console-1')).status).toBe(200)
  expect((await send('POST', '/api/view-user', { user: 'mine' })).status).toBe(200)
  expect((await send('POST', '/api/delete-user', { user: 'mine' })).json['data']).toMatchObject({ deleted: true })
})

test('a console that knows what it told the agent last goes on, one that has forgotten it is told so', async () => {
  const { send, claim } = await owned()
  await claim()
  // A lost answer makes a console claim twice. Then the next session begins.
  expect((await claim()).status).toBe(200)
  expect((await claim({ mark: 'm2', known: ['m1'] })).status).toBe(200)
  expect((await claim({ mark: 'm3', known: ['m0', 'm2'] })).status).toBe(200)
  const old = await claim({ mark: 'm2b', known: ['m1'] })
  expect(old).toMatchObject({ status: 409, json: { reason: 'olderConsole', owner: { mark: 'm3' } } })
  // A later session ends this one.
  expect((await send('PUT', '/api/users/late', body, 'console-1 m2')).json).toMatchObject({ reason: 'olderConsole' })
  expect((await send('PUT', '/api/users/late', body, 'console-1 m3')).status).toBe(200)
})

test('another server of the same console gets it at once only if it has no users', async () => {
  const { send, claim } = await owned()
  await claim()
  expect((await claim({ server: '8', mark: 'n1' })).status).toBe(200)
  expect((await send('PUT', '/api/users/customer', body, 'console-1 n1')).status).toBe(200)
  const other = await claim({ server: '9', mark: 'o1' })
  expect(other).toMatchObject({ status: 409, json: { reason: 'olderConsole', owner: { server: '8', mark: 'n1' } } })
  expect((await claim({ server: '9', mark: 'o1', known: ['n1'] })).status).toBe(200)
})

test('it is taken over from the console that is named, and gets a new, unknown mark', async () => {
  const { claim } = await owned()
  await claim()
  const other = { id: 'console-2', name: 'New', server: '1', mark: 'x1' }
  expect((await claim({ ...other, take_over_from: 'console-9' })).status).toBe(409)
  const taken = await claim({ ...other, take_over_from: 'console-1' })
  const mark = String(taken.json['owner']?.['mark'])
  expect(taken).toMatchObject({ status: 200, json: { owner: { id: 'console-2', name: 'New' } } })
  expect(mark).not.toBe('x1')
  expect((await claim(other)).json).toMatchObject({ reason: 'olderConsole' })
  expect((await claim({ ...other, known: [mark] })).status).toBe(200)
  expect((await claim()).json).toMatchObject({ reason: 'foreignConsole', owner: { id: 'console-2' } })
})

test('of claims at once one wins, and the owner outlives the process', async () => {
  const { agent, claim } = await owned()
  const claims = await Promise.all(['a', 'b', 'c', 'd'].map(id => claim({ id: `console-${id}` })))
  expect(claims.filter(({ status }) => status === 200)).toHaveLength(1)
  const winner = claims.find(({ status }) => status === 200)?.json['owner']
  await agent.close()
  const again = await startAgent(testConfig(agent.folder), { log: silent })
  if (!again.ok) throw new Error(again.message)
  onEnd(() => again.agent.close())
  const state = await fetch(`http://127.0.0.1:${again.agent.port}/api/state`, {
    headers: { authorization: `Bearer ${token}` }
  })
  expect(((await state.json()) as Json)['owner']).toEqual(winner)
})

test('hostile claims are refused, and an agent with a damaged owner file does not start', async () => {
  const { claim, send } = await owned()
  for (const bad of [
    { id: '' },
    { id: 'a b' },
    { name: 'x'.repeat(201) },
    { mark: '../x' },
    { known: Array(5).fill('m') }
  ])
    expect((await claim(bad)).json).toMatchObject({ status: 400, reason: 'badBody' })
  expect((await send('PUT', '/api/owner', [])).status).toBe(400)
  const folder = await tempFolder()
  await writeFile(join(folder, 'owner.json'), '{"id":')
  const started = await startAgent(testConfig(folder), { log: silent })
  expect(started).toMatchObject({ ok: false, message: expect.stringContaining('owner.json cannot be read') as string })
})
