import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, createServer as createListener, type AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createAgentClient } from '../../integrations/agent/index.ts'
import { checkProxy } from './check-proxy.ts'

const ends: (() => void)[] = []
afterEach(() => ends.splice(0).forEach(end => end()))

/** Answers like an agent, and says that its user's proxy is at `line`. */
async function agentThatSays(line: (port: number) => string) {
  const dialled: string[] = []
  const listener = createListener(socket => {
    dialled.push((socket.localAddress ?? '').replace('::ffff:', ''))
    socket.on('error', () => {})
    socket.end('HTTP/1.1 200 OK\r\n\r\n')
  })
  listener.listen(0, '::')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const prefixes = ['127.99.0.0/24', '127.88.0.4/30']
  const state = { epoch: 'e', version: 1, prefixes, routes: [], users: [] }
  const api = createServer((request, response) => {
    const made = { status: 200, data: { num_of_ips: 1, proxy_str: [line(port)] } }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.url === '/api/state' ? state : made))
  })
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  ends.push(() => {
    api.closeAllConnections()
    api.close()
    listener.close()
  })
  const address = { host: '127.0.0.1', port: (api.address() as AddressInfo).port, token: 't', certificate: null }
  return { agent: createAgentClient(address, 2000), dialled, port }
}

test('an agent cannot make the console dial any other address than the server’s', async () => {
  const { agent, dialled, port } = await agentThatSays(own => `127.77.0.1:${own}:u:p`)
  expect(await checkProxy(agent, { host: '127.88.0.4', port }, ['http://127.0.0.1:9/'])).toBe('reaches')
  expect(dialled).toEqual(['127.88.0.4'])
  expect(await checkProxy(agent, null, ['http://127.0.0.1:9/'])).toBeNull()
  expect(dialled).toHaveLength(1)
})

test('an IPv6 address is dialled like one of IPv4, through the machine if the console has no route to it', async () => {
  const { agent, dialled, port } = await agentThatSays(own => `[2001:db8::1]:${own}:u:p`)
  const sites = ['http://127.0.0.1:9/']
  expect(await checkProxy(agent, { host: '::1', port }, sites)).toBe('reaches')
  expect(dialled).toEqual(['::1'])
  // TCP has no route to this address on any machine.
  const nowhere = { host: 'ff0e::1', port }
  expect(await checkProxy(agent, nowhere, sites)).toBe('no_way')
  expect(await checkProxy(agent, nowhere, sites, () => Promise.reject(new Error('forwarding is off')))).toBe('no_way')
  const asked: unknown[] = []
  const detour = (at: object) => {
    asked.push(at)
    return Promise.resolve(connect(port, '127.0.0.1'))
  }
  expect(await checkProxy(agent, nowhere, sites, detour)).toBe('reaches')
  expect(asked).toMatchObject([nowhere])
})
