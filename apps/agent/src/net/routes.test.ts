import { expect, test } from 'vitest'
import { Routes, type RunCommand } from './routes.ts'

type Reply = { code: number; output: string }

/** An `ip` with a table of replies. It keeps local routes if `mayChange`, and records commands and their input. */
const fakeIp = (
  answers: Record<string, Reply> = {},
  { local = [] as string[], mayChange = true } = {}
): { run: RunCommand; asked: string[]; told: string[] } => {
  const asked: string[] = []
  const told: string[] = []
  const routes = new Set(local)
  const change = (line: string): void => {
    const [, verb, , prefix = ''] = line.split(' ')
    if (mayChange && verb === 'replace') routes.add(prefix)
    if (mayChange && verb === 'del') routes.delete(prefix)
  }
  const run: RunCommand = (file, args, input = '') => {
    const line = [file, ...args].join(' ')
    asked.push(line)
    const lines = input.split('\n').filter(text => text !== '')
    told.push(...lines)
    lines.forEach(change)
    if (line.endsWith('route show table local type local'))
      return Promise.resolve({
        code: 0,
        output: [...routes].map(prefix => `local ${prefix} dev lo scope host`).join('\n')
      })
    return Promise.resolve(answers[line] ?? { code: 0, output: '' })
  }
  return { run, asked, told }
}

test('loopback needs no route; each other range gets one, and loses it when it is removed', async () => {
  const { run, told } = fakeIp({}, { local: ['203.0.113.0/24'] })
  const routes = new Routes(run, 'linux')
  expect(await routes.load(['127.10.0.0/16', '198.51.100.0/24'], ['203.0.113.0/24', '127.11.0.0/16'])).toEqual([
    { prefix: '127.10.0.0/16', local: true },
    { prefix: '198.51.100.0/24', local: true }
  ])
  expect(told).toEqual(['route del local 203.0.113.0/24 dev lo', 'route replace local 198.51.100.0/24 dev lo'])
})

test('a range that is already local stays unchanged', async () => {
  const { run, told } = fakeIp({}, { local: ['198.51.100.0/24', '192.0.2.7'] })
  expect(await new Routes(run, 'linux').load(['198.51.100.0/24', '192.0.2.7/32'], [])).toEqual([
    { prefix: '198.51.100.0/24', local: true },
    { prefix: '192.0.2.7/32', local: true }
  ])
  expect(told).toEqual([])
})

test('without the right to add routes, the reply says what to run', async () => {
  const { run } = fakeIp({}, { mayChange: false })
  expect(await new Routes(run, 'linux').load(['198.51.100.0/24', '127.10.0.0/16'], [])).toEqual([
    { prefix: '198.51.100.0/24', local: false, command: 'ip route replace local 198.51.100.0/24 dev lo' },
    { prefix: '127.10.0.0/16', local: true }
  ])
})

test('a range that contains the default gateway is refused: it would cut the server off', async () => {
  const { run, told } = fakeIp({ 'ip route show': { code: 0, output: 'default via 198.51.100.1 dev eth0 proto dhcp' } })
  const [gateway, other] = await new Routes(run, 'linux').load(['198.51.100.0/24', '203.0.113.0/24'], [])
  expect(gateway).toMatchObject({ local: false, command: expect.stringContaining('198.51.100.1') })
  expect(other).toEqual({ prefix: '203.0.113.0/24', local: true })
  expect(told).toEqual(['route replace local 203.0.113.0/24 dev lo'])
})

test('an IPv6 range on the link does not work by its route alone, because nothing answers for its addresses', async () => {
  const shown = [
    'fd00:1::/64 dev eth0 proto kernel metric 256 pref medium',
    'fe80::/64 dev eth0 proto kernel metric 256 pref medium',
    'fd00:77::/48 dev lo metric 1024 pref medium',
    'default via fe80::1 dev eth0 proto ra metric 1024'
  ].join('\n')
  const { run } = fakeIp({ 'ip -6 route show': { code: 0, output: shown } })
  const allowBind = () => Promise.resolve(true)
  expect(await new Routes(run, 'linux', allowBind).load(['fd00:1::8000:0/97', 'fd00:77::/48'], [])).toEqual([
    {
      prefix: 'fd00:1::8000:0/97',
      local: false,
      command: expect.stringMatching(/link of eth0.*ndppd.*proxy_ndp=1.*neigh add proxy/) as unknown,
      link: 'on_link'
    },
    { prefix: 'fd00:77::/48', local: true, link: 'routed' }
  ])
  // If the system does not show its routes, the link is unknown.
  const { run: silent } = fakeIp({ 'ip -6 route show': { code: 1, output: 'Permission denied' } })
  expect(await new Routes(silent, 'linux', allowBind).load(['fd00:77::/48'], [])).toEqual([
    { prefix: 'fd00:77::/48', local: true, link: 'unknown' }
  ])
})

test('thousands of ranges take a handful of commands', async () => {
  const { run, asked, told } = fakeIp()
  const prefixes = Array.from({ length: 4096 }, (_, n) => `10.${n >> 8}.${n & 255}.0/24`)
  const routes = await new Routes(run, 'linux').load(prefixes, [])
  expect(routes).toHaveLength(4096)
  expect(routes.every(route => route.local)).toBe(true)
  expect(told).toHaveLength(4096)
  expect(asked.length).toBeLessThan(6)
})

test('on a system without AnyIP no command runs and no range is local', async () => {
  const { run, asked } = fakeIp()
  const [route] = await new Routes(run, 'darwin').load(['198.51.100.0/24'], [])
  expect(route?.local).toBe(false)
  expect(asked).toEqual([])
})
