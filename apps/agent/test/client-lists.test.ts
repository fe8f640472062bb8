// Operators' changes to a user's client list survive each PUT of the console.
import { expect, test } from 'vitest'
import { lease, startedAgain, testAgent, type Call, type TestAgent } from './test-agent.ts'

const white = async (call: Call) =>
  (await call('POST', '/api/view-user', { user: 'u' })).json['data']?.['whitelist_ips']
const change = (call: Call, verb: 'add' | 'del', ip: string) =>
  call('POST', `/api/${verb}-whitelist-ip`, { user: 'u', ip })
const hash = async (call: Call) => (await call('GET', '/api/state')).json['users']?.[0]?.['hash']

async function leased(clients: string[] = []): Promise<TestAgent & { put: (more?: object) => Promise<unknown> }> {
  const agent = await testAgent()
  const put = (more: object = {}) =>
    lease(agent.call, 'u', [`${agent.net}.1.0/29`], { allowed_client_ips: clients, ...more })
  await put()
  return { ...agent, put }
}

test('an address that was added stays through every put of the console, and makes no difference to it', async () => {
  const { call, put } = await leased()
  const before = await hash(call)
  expect((await change(call, 'add', '192.0.2.1')).status).toBe(200)
  expect(await hash(call)).toBe(before)
  await put()
  expect(await white(call)).toEqual(['192.0.2.1/32'])
  // A renewal may change the password, the denied domains and the console's own list.
  await put({ password: 'another', denied_domains: ['nike.com'] })
  expect(await white(call)).toEqual(['192.0.2.1/32'])
  await put({ allowed_client_ips: ['198.51.100.0/24'] })
  expect(await white(call)).toEqual(['192.0.2.1/32', '198.51.100.0/24'])
  await put()
  expect(await white(call)).toEqual(['192.0.2.1/32'])
  expect((await change(call, 'del', '192.0.2.1')).status).toBe(200)
  await put()
  expect(await white(call)).toEqual([])
  await put({ allowed_client_ips: ['198.51.100.0/24'] })
  expect(await white(call)).toEqual(['198.51.100.0/24'])
})

test('an address that was taken from the list of the console stays away', async () => {
  const { call, put } = await leased(['192.0.2.1', '192.0.2.2'])
  const before = await hash(call)
  await change(call, 'del', '192.0.2.1')
  expect(await hash(call)).toBe(before)
  await put()
  expect(await white(call)).toEqual(['192.0.2.2/32'])
  await put({ allowed_client_ips: ['192.0.2.1', '192.0.2.3'] })
  expect(await white(call)).toEqual(['192.0.2.3/32'])
  // After an operator adds the address again, the console's list applies unchanged.
  await change(call, 'add', '192.0.2.1')
  await put({ allowed_client_ips: ['192.0.2.1', '192.0.2.3'] })
  expect(await white(call)).toEqual(['192.0.2.1/32', '192.0.2.3/32'])
})

test('a restart keeps what operators did, and a user that is deleted takes it along', async () => {
  const agent = await leased()
  await change(agent.call, 'add', '192.0.2.1')
  const { call } = await startedAgain(agent)
  const put = () => lease(call, 'u', [`${agent.net}.1.0/29`], { allowed_client_ips: [] })
  expect(await white(call)).toEqual(['192.0.2.1/32'])
  await put()
  expect(await white(call)).toEqual(['192.0.2.1/32'])
  await call('DELETE', '/api/users/u')
  await put()
  expect(await white(call)).toEqual([])
})
