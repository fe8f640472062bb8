import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, createServer as createTls } from 'node:tls'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import type { ProxyTls, ProxyTlsCheck } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { startTestShop } from '../../testing/shop.ts'
import { AgentCallFailed, convergeServer } from '../convergence/converge.ts'
import { recordReport } from '../servers/agent-report.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { addTestServer, audited, heldBy, noOrders, serverRow, startTestAgent } from '../convergence/fleet.fixture.ts'
import { checkServers } from '../convergence/check-servers.ts'
import { repairServer } from '../convergence/repair.ts'
import { serverGroups, serverReports, servers } from '../servers/tables.ts'
import { certificateMaker, type Pair } from '../../testing/certificates.ts'
import { useStarted } from '../../testing/use-started.ts'
import { checkProxyTls, dial } from './check-proxy-tls.ts'
import { tlsOf } from '../servers/stored-settings.ts'
import { resolveAllProxyNames, resolveProxyNames } from './proxy-names.ts'
import { groupsWithTls, readOffer } from './tls-offer.ts'
import { addRow } from '../../testing/rows.ts'
import { fromNow } from '../../testing/later.ts'
import { findCertificates } from './ending-certificates.ts'

// No name server answers there.
const world = useStarted(() => startTestShop({ config: { dnsServers: ['127.0.0.1:9'] } }))
const agent = useStarted(startTestAgent)
const admin = useStarted(() => world.admin())
let server: number
const make = certificateMaker()
const closing: (() => void)[] = []
let count = 0

afterEach(() => closing.splice(0).forEach(close => close()))
afterAll(() => make.remove())

/** Each test has a server of its own on the one agent. */
beforeEach(async () => {
  await world.ctx.db.update(servers).set({ deletedAt: world.ctx.now() })
  for (const user of await heldBy(agent)) await agent.client.deleteUser(user)
  server = await addTestServer(world.ctx, `tls ${(count += 1)}`, { agent, ranges: [`127.44.${count}.0/24`] })
  await converge()
  await agent.client.putProxyTls({ source: 'none' })
})

const converge = () => convergeServer(world.ctx, server, noOrders(world.ctx))
const path = () => `/api/servers/servers/${server}/proxy_tls/`
const read = async () => (await admin.get<ProxyTls>(path())).data
const save = (form: object, version?: string) =>
  admin.put<ProxyTls & { reason?: string; errors?: Record<string, string> }>(path(), {
    ...form,
    ...(version && { version })
  })
const pasted = ({ certificate, key }: Pair) => ({ source: 'pasted', certificate, key })
const first = () => `127.44.${count}.0`

/** The names of the certificate that a proxy of the server shows; null: no TLS. */
async function shown(): Promise<string | null> {
  const socket = connect({ host: first(), port: agent.proxyPort, rejectUnauthorized: false })
  socket.on('error', () => {})
  await once(socket, 'secureConnect').catch(() => {})
  const { subjectaltname: names } = socket.getPeerCertificate()
  socket.destroy()
  return names ?? null
}

test('reaches the agent without a restart, can be changed and removed, and its key is never shown', async () => {
  expect(await read()).toMatchObject({ source: 'unset', state: 'unset', shown: null, port: agent.proxyPort })
  const pair = make.selfSigned(['DNS:*.one.test'])
  const saved = await save(pasted(pair))
  expect(saved.data).toMatchObject({ source: 'pasted', state: 'waiting', certificate: { names: ['*.one.test'] } })
  await converge()
  expect(await shown()).toBe('DNS:*.one.test')
  expect(await read()).toMatchObject({ state: 'applied', shown: { names: ['*.one.test'], days_left: 29 } })

  // The same key is used with another certificate.
  const second = make.selfSigned(['DNS:two.test'])
  await save(pasted(second))
  await converge()
  expect(await shown()).toBe('DNS:two.test')
  const kept = JSON.stringify(await serverRow(world.ctx, server))
  const told = JSON.stringify([await read(), await audited(world.ctx, 'server.proxy_tls'), saved])
  for (const text of [kept, told]) {
    expect(text).not.toContain('PRIVATE')
    expect(text).not.toContain(pair.key.split('\n')[1])
    expect(text).not.toContain(second.key.split('\n')[1])
  }
  expect((await save({ ...pasted(second), key: '' })).data).toMatchObject({ source: 'pasted' })

  await save({ source: 'none' })
  await converge()
  expect(await shown()).toBeNull()
  expect(await read()).toMatchObject({ source: 'none', state: 'applied', shown: null, certificate: null })
  expect(
    (await audited(world.ctx, 'server.proxy_tls')).map(({ after }) => (after as { source: string }).source)
  ).toEqual(['none', 'pasted', 'pasted'])
})

test('other settings of the agent and the TLS leave each other alone', async () => {
  await save(pasted(make.selfSigned(['DNS:one.test'])))
  const settings = `/api/servers/servers/${server}/agent_settings/`
  const set = await admin.put<{ settings: object; lines: string }>(settings, { settings: { AGENT_WORKERS: '4' } })
  expect(set.data).toMatchObject({ settings: { AGENT_WORKERS: '4' }, lines: 'AGENT_WORKERS=4\n' })
  await save({ source: 'none' })
  expect((await admin.get(settings)).data).toMatchObject({ settings: { AGENT_WORKERS: '4' } })
  expect(tlsOf(await serverRow(world.ctx, server))?.wanted).toEqual({ source: 'none' })
})

test('a server that is deleted keeps no key', async () => {
  await save(pasted(make.selfSigned(['DNS:one.test'])))
  expect((await admin.delete(`/api/servers/servers/${server}/`)).code).toBe(2000)
  expect(tlsOf(await serverRow(world.ctx, server))).toBeNull()
})

test('what makes no sense is refused beside its field, and what was saved stays', async () => {
  const pair = make.selfSigned(['DNS:one.test'])
  await save(pasted(pair))
  const { version } = await read()
  const refused = async (form: object) => {
    const { code, data } = await save(form, version)
    expect(code).not.toBe(2000)
    return [data.reason, Object.keys(data.errors ?? {})[0]]
  }
  expect(await refused(pasted({ ...pair, key: make.selfSigned(['DNS:x.test']).key }))).toContain('key')
  expect(await refused({ source: 'files', certificate_file: '/a' })).toContain('key_file')
  expect(await refused({ source: 'files', certificate_file: 'a', key_file: '/b' })).toContain('certificate_file')
  expect(await refused({ ...pasted(pair), certificate: '' })).toContain('certificate')
  expect((await read()).version).toBe(version)
  // Another operator has saved since.
  await save({ source: 'none' }, version)
  expect((await save(pasted(pair), version)).code).toBe(409)
})

test('a key does not leave for an agent that would get it in the clear', async () => {
  await world.ctx.db
    .update(servers)
    .set({ ip: `198.51.100.${count}` })
    .where(eq(servers.id, server))
  expect((await save(pasted(make.selfSigned(['DNS:one.test'])))).data.reason).toBe('tls_in_clear')
  expect((await save({ source: 'files', certificate_file: '/a', key_file: '/b' })).code).toBe(2000)
})

test('an agent that is away while it is saved gets it when it is back, and one that lost it gets it again', async () => {
  await agent.stop()
  await save(pasted(make.selfSigned(['DNS:away.test'])))
  await expect(converge()).rejects.toThrow(AgentCallFailed)
  expect(await read()).toMatchObject({ state: 'waiting' })
  await agent.start()
  await converge()
  expect(await shown()).toBe('DNS:away.test')
  expect(await read()).toMatchObject({ state: 'applied' })

  await agent.client.putProxyTls({ source: 'none' })
  expect(await shown()).toBeNull()
  await repairServer(world.ctx, server)
  expect(await shown()).toBe('DNS:away.test')
})

test('files that something else keeps on the server are read there, and what was refused is taken once it can be', async () => {
  const pair = make.selfSigned(['DNS:files.test'])
  const form = { source: 'files', certificate_file: make.at('live.pem'), key_file: make.at('live.key') }
  rmSync(make.at('live.pem'), { force: true })
  await save(form)
  await converge()
  expect(await read()).toMatchObject({ state: 'refused', reason: 'tls_not_taken', ...form, shown: null })
  expect((await read()).msg).toContain('ENOENT')
  writeFileSync(make.at('live.pem'), pair.certificate)
  writeFileSync(make.at('live.key'), pair.key)
  await repairServer(world.ctx, server)
  expect(await read()).toMatchObject({ state: 'applied', reason: null, shown: { names: ['files.test'] } })
  expect(await shown()).toBe('DNS:files.test')
})

test('an agent that does not take the call takes everything else, and the server goes on selling', async () => {
  const sick = await startBefore(response => {
    response.statusCode = 503
    return JSON.stringify({ status: 503, reason: 'notDurable', msg: 'The disk is full.' })
  })
  await world.ctx.db.update(servers).set({ agentPort: sick.port }).where(eq(servers.id, server))
  await save(pasted(make.selfSigned(['DNS:sick.test'])))
  await converge()
  expect(sick.puts()).toBe(1)
  expect(await serverRow(world.ctx, server)).toMatchObject({ failingSince: null })
  expect(await read()).toMatchObject({ state: 'waiting' })
  await world.ctx.db.update(servers).set({ agentPort: agent.port }).where(eq(servers.id, server))
  await repairServer(world.ctx, server)
  expect(await shown()).toBe('DNS:sick.test')
})

test('an older agent only asks for an upgrade, and gets the certificate after it', async () => {
  const old = await startOldAgent()
  await world.ctx.db.update(servers).set({ agentPort: old.port }).where(eq(servers.id, server))
  await save(pasted(make.selfSigned(['DNS:old.test'])))
  await converge()
  expect(await read()).toMatchObject({ state: 'refused', reason: 'tls_agent_too_old' })
  const asked = old.puts()
  await repairServer(world.ctx, server)
  expect(old.puts()).toBe(asked)
  // Another version answers there.
  const info = await agent.client.info()
  if (!info.ok || !info.data.health) throw new Error('the agent told nothing')
  const { health } = info.data
  const told = (version: string) =>
    command(world.ctx, SYSTEM, unit => recordReport(unit, server, { ...info.data, health: { ...health, version } }))
  await told('0.0.1')
  await told('0.0.2')
  expect(await read()).toMatchObject({ state: 'waiting', reason: null })
  await world.ctx.db.update(servers).set({ agentPort: agent.port }).where(eq(servers.id, server))
  await converge()
  expect(await read()).toMatchObject({ state: 'applied' })
})

/** Like a real agent, except that it knows no TLS of the console. */
const startOldAgent = () =>
  startBefore(
    response => {
      response.statusCode = 404
      return JSON.stringify({ status: 404, reason: 'unknownPath', msg: 'No such call.' })
    },
    json => delete json['proxy_tls']
  )

/** A proxy before the agent. @param answer answers calls about TLS itself. @param change changes other answers */
async function startBefore(
  answerTls: (response: ServerResponse) => string,
  change: (json: Record<string, unknown>) => unknown = () => {}
) {
  let puts = 0
  const pass: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => void answer(Buffer.concat(chunks)))
    const answer = async (body: Buffer) => {
      if (request.url === '/api/proxy-tls') {
        puts += 1
        return response.end(answerTls(response))
      }
      const { authorization = '', 'netlet-console': console = '' } = request.headers
      const reply = await fetch(`http://127.0.0.1:${agent.port}${request.url}`, {
        method: request.method ?? 'GET',
        headers: { authorization, 'netlet-console': String(console), 'content-type': 'application/json' },
        ...(body.length > 0 ? { body } : {})
      })
      const json = (await reply.json()) as Record<string, unknown>
      change(json)
      response.statusCode = reply.status
      return response.end(JSON.stringify(json))
    }
  }
  const http = createServer(pass)
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  closing.push(() => {
    http.closeAllConnections()
    http.close()
  })
  return { port: (http.address() as AddressInfo).port, puts: () => puts }
}

test('operators get a notice before it ends, and health lists it with the others', async () => {
  await save(pasted(make.selfSigned(['DNS:soon.test'], ['-days', '10'])))
  await converge()
  const found = await findCertificates(world.ctx, world.ctx.now(), 14)
  expect(found).toMatchObject([{ subject: `${server}:proxy`, words: 'certificate_proxy' }])
  expect(await findCertificates(world.ctx, world.ctx.now(), 5)).toEqual([])
  const health = await admin.get<{ servers: { certificates: object[] } }>('/api/settings/health/')
  expect(health.data.servers.certificates).toMatchObject([{ id: server, days_left: 9 }])
})

test('a name that leads to a proxy is its name; a group offers TLS if all of its servers do', async () => {
  const { ctx } = world
  await save(pasted(make.selfSigned(['DNS:*.group.test'])))
  await converge()
  const leads = async () => (await readOffer(ctx.db, server, ctx.now()))?.leads
  await resolveProxyNames(ctx, server, name => Promise.resolve(name.startsWith('127-44') ? [first()] : []))
  expect(await leads()).toEqual({ '*.group.test': [first()] })
  await resolveProxyNames(ctx, server, () => Promise.resolve(['198.51.100.9']))
  expect(await leads()).toEqual({ '*.group.test': [] })

  const { id: group } = await addRow(ctx, serverGroups, { name: `group ${count}` })
  const join = (id: number) =>
    ctx.db.execute(sql`insert into server_group_servers (group_id, server_id) values (${group}, ${id})`)
  const offers = async (now = ctx.now()) => (await groupsWithTls(ctx.db, [group], now)).has(group)
  expect(await offers()).toBe(false)
  await join(server)
  expect(await offers()).toBe(true)
  expect(await offers(new Date(ctx.now().getTime() + 31 * 86_400_000))).toBe(false)
  const other = await addTestServer(ctx, `other ${count}`)
  await join(other)
  expect(await offers()).toBe(false)
  await ctx.db.update(servers).set({ status: 'given_up' }).where(eq(servers.id, other))
  expect(await offers()).toBe(true)
  // An older agent reports no names.
  await ctx.db
    .update(serverReports)
    .set({ report: sql`${serverReports.report} #- '{certificates,proxy_names}'` })
    .where(eq(serverReports.serverId, server))
  expect(await offers()).toBe(false)
  await checkServers(ctx)
  expect(await offers()).toBe(true)
})

test('a check from outside says what is wrong', async () => {
  const { ctx } = world
  const look = async (ask: (name: string) => string[]) => {
    const checked = await checkProxyTls(ctx, server, name => Promise.resolve(ask(name)))
    if (!checked.ok) throw new Error(checked.reason)
    return checked.data
  }
  expect((await look(() => [])).findings).toEqual(['no_tls'])
  await save(pasted(make.selfSigned(['DNS:*.look.test'])))
  await converge()
  const right = await look(() => [first()])
  expect(right).toMatchObject({ address: first(), host: `127-44-${count}-0.look.test`, findings: ['untrusted'] })
  expect(right.seen?.names).toEqual(['*.look.test'])
  expect((await look(() => [])).findings).toEqual(['unresolved', 'untrusted'])
  expect((await look(() => ['198.51.100.9'])).findings).toEqual(['leads_elsewhere', 'untrusted'])
  const over = await admin.post<ProxyTlsCheck>(`${path()}check/`, {})
  expect(over.data.findings).toEqual(['unresolved', 'untrusted'])

  const at = await tlsServer(make.selfSigned(['DNS:right.test']))
  expect((await dial(at, 'right.test', world.ctx.now())).findings).toEqual(['untrusted'])
  expect((await dial(at, 'wrong.test', world.ctx.now())).findings).toEqual(['wrong_name', 'untrusted'])
  expect((await dial(at, 'right.test', fromNow(world.ctx, 31 * 86_400_000))).findings).toEqual(['expired', 'untrusted'])
  expect((await dial(at, 'right.test', fromNow(world.ctx, -86_400_000))).findings).toEqual(['not_begun', 'untrusted'])
  await agent.stop()
  expect((await look(() => [first()])).findings).toContain('not_listening')
  await agent.start()
})

async function tlsServer({ certificate: cert, key }: Pair) {
  const tls = createTls({ cert, key }, socket => void socket.on('error', () => {}).end())
  tls.listen(0, '127.0.0.1')
  await once(tls, 'listening')
  closing.push(() => void tls.close())
  return { host: '127.0.0.1', port: (tls.address() as AddressInfo).port }
}

test('an agent whose machine decides is asked once, and its log is not filled', async () => {
  const own = await startBefore(
    response => {
      response.statusCode = 409
      return JSON.stringify({ status: 409, reason: 'proxyTlsByEnvironment', msg: 'Its machine decides.' })
    },
    json => (json['proxy_tls'] = { source: 'environment', hash: null, fault: null })
  )
  await world.ctx.db.update(servers).set({ agentPort: own.port }).where(eq(servers.id, server))
  await save(pasted(make.selfSigned(['DNS:own.test'])))
  await converge()
  for (let n = 0; n < 2; n++) await repairServer(world.ctx, server)
  expect(await read()).toMatchObject({ state: 'refused', reason: 'tls_by_environment' })
  expect(own.puts()).toBe(1)
})

test('names of all servers are looked at by a job for each that shows TLS', async () => {
  await save(pasted(make.selfSigned(['DNS:each.test'])))
  const withoutTls = await addTestServer(world.ctx, 'no tls', { agent, ranges: ['127.45.0.0/24'] })
  await resolveAllProxyNames(world.ctx)
  const { rows } = await world.ctx.db.execute<{ id: number }>(
    sql`select (data ->> 'serverId')::int as id from pgboss.job where name = 'look-at-proxy-names'`
  )
  expect(rows.map(({ id }) => id)).toContain(server)
  expect(rows.map(({ id }) => id)).not.toContain(withoutTls)
})

test('if no name server answers, the last result stays; an unchanged result is not written again', async () => {
  const { ctx } = world
  await save(pasted(make.selfSigned(['DNS:zz.names.test', 'DNS:a.names.test'])))
  await converge()
  const written = async () =>
    (
      await ctx.db.execute(
        sql`select xmin, agent_settings -> 'proxy_tls' -> 'leads' as leads from servers where id = ${server}`
      )
    ).rows[0]
  const leads = { 'zz.names.test': [first()], 'a.names.test': ['198.51.100.9'] }
  const ask = (name: string) => Promise.resolve(leads[name as keyof typeof leads])
  await resolveProxyNames(ctx, server, ask)
  const before = await written()
  expect(before).toMatchObject({ leads })
  await resolveProxyNames(ctx, server, ask)
  await resolveProxyNames(ctx, server, () => Promise.resolve(null))
  await resolveProxyNames(ctx, server)
  expect(await written()).toEqual(before)
  await resolveProxyNames(ctx, server, () => Promise.resolve([]))
  expect(await written()).toMatchObject({ leads: { 'zz.names.test': [], 'a.names.test': [] } })
})
