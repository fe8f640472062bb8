import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestShop } from '../../testing/shop.ts'
import { checkIpv6 } from './check-ipv6.ts'
import { addTestServer, startFleetShop } from './fleet.fixture.ts'
import { servers } from './tables.ts'

/** What answers in the agent's place: it says what was asked of it. A real one is tested in apps/agent. */
let asked: { path: string | undefined; prefix: string; targets: unknown[] }[] = []
let knows = true
let agent: HttpServer
let world: TestShop

beforeAll(async () => {
  world = await startFleetShop()
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.parse((await request.toArray()).join('')) as { prefix: string; targets: unknown[] }
    asked.push({ path: request.url, ...body })
    if (knows) {
      const results = [{ target: 'site:443', found: 'silent', own: 'connected' }]
      response.end(JSON.stringify({ prefix: body.prefix, address: '2001:db8::9', verdict: 'no_neighbour', results }))
    } else response.writeHead(404).end(JSON.stringify({ status: 404, reason: 'unknownPath', msg: 'No such call.' }))
  }
  agent = createServer((request, response) => void answer(request, response))
  await new Promise<void>(resolve => agent.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  agent.closeAllConnections()
  agent.close()
  await world.close()
})

const sites = ['https://one.example/', 'http://two.example:8080/x', 'no address']
const serverOf = async (name: string, ranges: string[]): Promise<number> => {
  const id = await addTestServer(world.ctx, name, { ranges })
  const { port } = agent.address() as AddressInfo
  await world.ctx.db.update(servers).set({ agentPort: port }).where(eq(servers.id, id))
  return id
}

test('each IPv6 range of a server is checked, by its sites or by a target of the operator', async () => {
  const id = await serverOf('both', ['10.80.0.0/29', '2001:db8:80::/56', '2001:db8:81::/64'])
  asked = []
  const found = await checkIpv6(world.ctx, id, '', sites)
  expect(found).toMatchObject({ ok: true, data: { more: 0, checks: [{ verdict: 'no_neighbour' }, {}] } })
  const targets = [
    { host: 'one.example', port: 443 },
    { host: 'two.example', port: 8080 }
  ]
  expect(asked.toSorted((a, b) => a.prefix.localeCompare(b.prefix))).toEqual([
    { path: '/api/check-exit', prefix: '2001:db8:80::/56', targets },
    { path: '/api/check-exit', prefix: '2001:db8:81::/64', targets }
  ])
  asked = []
  await checkIpv6(world.ctx, id, '[2001:db8::1]:53', sites)
  expect(asked[0]?.targets).toEqual([{ host: '2001:db8::1', port: 53 }])
  expect(await checkIpv6(world.ctx, id, 'one.example:0', sites)).toMatchObject({ ok: false, reason: 'wrong_target' })
})

test('of many ranges some are looked at; without one, or of an agent that is too old, it says so', async () => {
  const many = await serverOf(
    'many',
    Array.from({ length: 10 }, (_, nth) => `2001:db8:9${nth}::/64`)
  )
  expect(await checkIpv6(world.ctx, many, 'x:1', sites)).toMatchObject({ data: { more: 2 } })
  const four = await serverOf('four', ['10.81.0.0/29'])
  expect(await checkIpv6(world.ctx, four, 'x:1', sites)).toMatchObject({ ok: false, reason: 'no_ipv6_ranges' })
  knows = false
  expect(await checkIpv6(world.ctx, many, 'x:1', sites)).toMatchObject({
    ok: false,
    reason: 'agent_refused',
    params: { message: 'No such call.' }
  })
})
