// The classic API, as operators' scripts call it.
import { beforeAll, expect, test } from 'vitest'
import {
  type Call,
  echoTarget,
  httpTarget,
  type Json,
  lease,
  proxied,
  type TestAgent,
  testAgent,
  token,
  tunnel
} from './test-agent.ts'

let agent: TestAgent
let call: Call
let target: Awaited<ReturnType<typeof httpTarget>>
beforeAll(async () => {
  agent = await testAgent()
  call = agent.call
  target = await httpTarget()
})

const linesOf = (reply: { json: Json }): string[] => [...(reply.json['data']?.['proxy_str'] ?? [])].map(String)
/** Requests the target through a proxy line `ip:port:user:password`, as a customer does. */
const use = (line = ''): ReturnType<typeof proxied> => {
  const [ip = '', port, user = '', password = ''] = line.split(':')
  return proxied(ip, Number(port), user, `http://${target.host}/`, { password })
}

test('an operator leases a block, looks at it, renews its password and takes it back', async () => {
  const info = await call('GET', '/api/view-server-info')
  expect(info.json).toMatchObject({
    status: 200,
    data: { cidr: [`${agent.net}.0.0/16`], load: { connections: 0, up: 0, down: 0 } }
  })

  const created = await call('POST', '/api/create-user-by-prefix', {
    user: 'carl',
    prefix: `${agent.net}.5.0/29`,
    remove_network_addr: true,
    remove_broadcast_addr: true
  })
  expect(created.json).toMatchObject({ status: 200, data: { num_of_ips: 6 } })
  const lines = linesOf(created)
  expect(lines).toHaveLength(6)
  expect(lines[0]).toMatch(new RegExp(`^${agent.net}\\.5\\.1:${agent.proxyPort}:carl:[A-Za-z0-9]{14}$`))
  expect((await use(lines[5])).status).toBe(200)
  expect((await use(lines[0]?.replace('.5.1:', '.5.0:'))).status).toBe(407)

  const viewed = await call('POST', '/api/view-user', { user: 'carl' })
  expect(linesOf(viewed)).toEqual(lines)
  const renewed = await call('POST', '/api/update-user', { user: 'carl' })
  expect(linesOf(renewed)).toHaveLength(6)
  expect(linesOf(renewed)).not.toEqual(lines)
  expect((await use(lines[0])).status).toBe(407)
  expect((await use(linesOf(renewed)[0])).status).toBe(200)

  const all = await call('GET', '/api/view-all-users')
  expect(all.json['data']?.['users']).toMatchObject([{ user: 'carl' }])
  expect(linesOf(await call('GET', '/api/export-all-proxies'))).toEqual(linesOf(renewed))
  expect((await call('POST', '/api/delete-user', { user: 'carl' })).json).toMatchObject({ status: 200 })
  expect((await use(linesOf(renewed)[0])).status).toBe(407)
  expect((await call('POST', '/api/view-user', { user: 'carl' })).status).toBe(404)
})

test('scripts find the refusals that they look for', async () => {
  for (const user of ['', 'a b', 'a:b', '../x', 'x'.repeat(100)]) {
    const refused = await call('POST', '/api/create-user-by-prefix', { user, prefix: `${agent.net}.6.0/29` })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('Bad format for user.')
  }
  for (const prefix of ['', 'x', `${agent.net}.6.1/29`, `${agent.net}.6.0/33`, '10.0.0.0/29', '1.2.3.4.5/30', 7]) {
    const refused = await call('POST', '/api/create-user-by-prefix', { user: 'dora', prefix })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('Invalid prefix.')
  }
  expect((await call('POST', '/api/update-user', { user: 'nobody' })).status).toBe(404)
  expect((await call('POST', '/api/create-user', { user: 'dora', num_of_ips: 0 })).status).toBe(400)
  expect((await call('POST', '/api/create-user', { user: 'dora', num_of_ips: 70_000 })).status).toBe(400)
})

test('create-user takes the lowest free addresses and never those of another', async () => {
  const first = linesOf(await call('POST', '/api/create-user', { user: 'eve', num_of_ips: 5 }))
  expect(first.map(line => line.split(':')[0])).toEqual([0, 1, 2, 3, 4].map(n => `${agent.net}.0.${n}`))
  await lease(call, 'held', [`${agent.net}.0.6/31`])
  const second = linesOf(await call('POST', '/api/create-user', { user: 'finn', num_of_ips: 4 }))
  expect(second.map(line => line.split(':')[0])).toEqual([5, 8, 9, 10].map(n => `${agent.net}.0.${n}`))
  expect((await call('POST', '/api/create-user', { user: 'finn', num_of_ips: 1 })).status).toBe(409)
  expect((await call('POST', '/api/create-user', { user: 'greedy', num_of_ips: 65_530 })).status).toBe(409)
})

test('the whitelist lets only the listed clients in, until it is empty', async () => {
  const [line = ''] = linesOf(await call('POST', '/api/create-user', { user: 'gina', num_of_ips: 1 }))
  await call('POST', '/api/add-whitelist-ip', { user: 'gina', ip: '203.0.113.7' })
  expect((await use(line)).status).toBe(407)
  await call('POST', '/api/add-whitelist-ip', { user: 'gina', ip: '127.0.0.1' })
  expect((await use(line)).status).toBe(200)
  await call('POST', '/api/del-whitelist-ip', { user: 'gina', ip: '127.0.0.1' })
  expect((await use(line)).status).toBe(407)
  await call('POST', '/api/del-whitelist-ip', { user: 'gina', ip: '203.0.113.7' })
  expect((await use(line)).status).toBe(200)
  expect((await call('POST', '/api/add-whitelist-ip', { user: 'gina', ip: 'home' })).status).toBe(400)
})

test('write-user-acl replaces every deny list, export/user.acl gives it back', async () => {
  const [hank = ''] = linesOf(await call('POST', '/api/create-user', { user: 'hank', num_of_ips: 1 }))
  await call('POST', '/api/create-user', { user: 'ivy', num_of_ips: 1 })
  const acl = 'hank one.test\nhank *.Two.test\nivy one.test\nstranger one.test\n'
  const written = await call('POST', '/api/write-user-acl', { acl_str: acl })
  expect(written.json['data']).toMatchObject({ users: 2, ignored_users: ['stranger'] })
  expect((await call('GET', '/api/export/user.acl')).text).toBe('hank one.test\nhank two.test\nivy one.test\n')
  const [ip = '', port, user = '', password] = hank.split(':')
  expect((await tunnel(ip, Number(port), user, 'sub.two.test:443', password)).status).toBe(403)
  await call('POST', '/api/write-user-acl', { acl_str: 'ivy three.test' })
  expect((await call('GET', '/api/export/user.acl')).text).toBe('ivy three.test\n')
  expect((await tunnel(ip, Number(port), user, 'sub.two.test:443', password)).status).not.toBe(403)
  expect((await call('POST', '/api/write-user-acl', { acl_str: 'ivy' })).status).toBe(400)
  expect((await call('GET', '/api/export/user.acl')).text).toBe('ivy three.test\n')
})

test('a line with a mark is an exception, which the export gives back and the blacklist overrules', async () => {
  const [line = ''] = linesOf(await call('POST', '/api/create-user', { user: 'nora', num_of_ips: 1 }))
  const [ip = '', port, user = '', password] = line.split(':')
  const status = async (host: string): Promise<number> =>
    (await tunnel(ip, Number(port), user, `${host}:443`, password)).status
  const acl_str = 'nora wide.test\nnora !Open.wide.test\n'
  expect((await call('POST', '/api/write-user-acl', { acl_str })).json['data']).toMatchObject({ users: 1, domains: 2 })
  const exported = (await call('GET', '/api/export/user.acl')).text
  expect(exported).toBe('nora !open.wide.test\nnora wide.test\n')
  expect(await status('a.wide.test')).toBe(403)
  expect(await status('a.open.wide.test')).not.toBe(403)
  // Writing an export back changes nothing.
  await call('POST', '/api/write-user-acl', { acl_str: exported })
  expect((await call('GET', '/api/export/user.acl')).text).toBe(exported)
  await call('POST', '/api/add-blacklist', { domain: 'open.wide.test' })
  expect(await status('a.open.wide.test')).toBe(403)
  expect((await call('POST', '/api/add-blacklist', { domain: '!wide.test' })).status).toBe(400)
  await call('POST', '/api/del-blacklist', { domain: 'open.wide.test' })
  expect(await status('a.open.wide.test')).not.toBe(403)
  for (const wrong of ['nora !10.0.0.1', 'nora !a b', 'nora !!a.test']) {
    expect((await call('POST', '/api/write-user-acl', { acl_str: wrong })).status).toBe(400)
  }
  expect((await call('GET', '/api/export/user.acl')).text).toBe(exported)
})

test('the blacklist closes a domain to everyone', async () => {
  const [line = ''] = linesOf(await call('POST', '/api/create-user', { user: 'jack', num_of_ips: 1 }))
  const [ip = '', port, user = '', password] = line.split(':')
  const echo = await echoTarget()
  const open = await tunnel(ip, Number(port), user, echo.host, password)
  await call('POST', '/api/add-blacklist', { domain: 'bad.test' })
  await call('POST', '/api/add-blacklist', { domain: '127.66.0.0/16' })
  expect((await call('GET', '/api/view-blacklist')).json['data']).toEqual({ blacklist: ['127.66.0.0/16', 'bad.test'] })
  expect((await tunnel(ip, Number(port), user, 'www.bad.test:443', password)).status).toBe(403)
  expect((await tunnel(ip, Number(port), user, '127.66.1.1:443', password)).status).toBe(403)
  await call('POST', '/api/del-blacklist', { domain: '127.66.0.0/16' })
  expect((await call('GET', '/api/view-blacklist')).json['data']).toEqual({ blacklist: ['bad.test'] })
  open.rawClient.send('still here')
  await open.rawClient.take(/still here/)
})

test('the access log is exported and emptied, and holds no secret', async () => {
  const [line = ''] = linesOf(await call('POST', '/api/create-user', { user: 'kim', num_of_ips: 1 }))
  const [ip = '', port, user = '', password = ''] = line.split(':')
  await proxied(ip, Number(port), user, `http://${target.host}/secret-path?key=secret-query`, { password })
  await proxied(ip, Number(port), password, `http://${target.host}/`, { password: user })
  const log = (await call('GET', '/api/export/access.log')).text
  expect(log).toMatch(new RegExp(`127\\.0\\.0\\.1 kim ${ip} GET ${target.host} 200 \\d+ \\d+ \\d+ ok\n`))
  expect(log).toMatch(/ - \S+ GET \S+ 407 /)
  for (const secret of [password, 'secret-path', 'secret-query', token]) expect(log).not.toContain(secret)
  expect((await call('POST', '/api/flush-access-log')).json).toMatchObject({ status: 200 })
  expect((await call('GET', '/api/export/access.log')).text).toBe('')
})

test('reload and delete-all-users answer, forms and trailing slashes are understood', async () => {
  expect((await call('POST', '/api/reload')).json).toMatchObject({ status: 200 })
  const form = await fetch(`http://127.0.0.1:${agent.port}/api/create-user/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'user=liz&num_of_ips=2'
  })
  expect(await form.json()).toMatchObject({ status: 200, data: { num_of_ips: 2 } })
  expect((await call('POST', '/api/delete-all-users', {})).json).toMatchObject({ status: 200 })
  expect((await call('GET', '/api/view-all-users')).json['data']).toEqual({ users: [] })
})
