import { expect, test } from 'vitest'
import { Routes, type RunCommand } from './routes.ts'

/** An `ip` that answers by a table and remembers what it was asked. */
const fakeIp = (answers: Record<string, { code: number; output: string }>): { run: RunCommand; asked: string[] } => {
  const asked: string[] = []
  const run: RunCommand = (file, args) => {
    const line = [file, ...args].join(' ')
    asked.push(line)
    const found = Object.entries(answers).find(([start]) => line.startsWith(start))
    return Promise.resolve(found?.[1] ?? { code: 0, output: '' })
  }
  return { run, asked }
}

test('loopback needs no route, other ranges get one each, and lose it when they go', async () => {
  const { run, asked } = fakeIp({})
  const routes = new Routes(run, 'linux')
  expect(await routes.load(['127.10.0.0/16', '198.51.100.0/24'], ['203.0.113.0/24', '127.11.0.0/16'])).toEqual([
    { prefix: '127.10.0.0/16', local: true },
    { prefix: '198.51.100.0/24', local: true }
  ])
  expect(asked.filter(line => / (?:replace|del) /.test(line))).toEqual([
    'ip route del local 203.0.113.0/24 dev lo',
    'ip route replace local 198.51.100.0/24 dev lo'
  ])
})

test('a range that is local already is left alone', async () => {
  const { run, asked } = fakeIp({ 'ip route show table local': { code: 0, output: 'local 198.51.100.0/24 dev lo' } })
  expect(await new Routes(run, 'linux').load(['198.51.100.0/24'], [])).toEqual([
    { prefix: '198.51.100.0/24', local: true }
  ])
  expect(asked.some(line => line.includes('replace'))).toBe(false)
})

test('without the right to add routes it says what to run', async () => {
  const { run } = fakeIp({ 'ip route replace': { code: 2, output: 'Operation not permitted' } })
  expect(await new Routes(run, 'linux').load(['198.51.100.0/24'], [])).toEqual([
    { prefix: '198.51.100.0/24', local: false, command: 'ip route replace local 198.51.100.0/24 dev lo' }
  ])
})

test('a range with the default gateway inside is not taken: it would cut the server off', async () => {
  const { run, asked } = fakeIp({ 'ip route show default': { code: 0, output: 'default via 198.51.100.1 dev eth0' } })
  const [route] = await new Routes(run, 'linux').load(['198.51.100.0/24'], [])
  expect(route).toMatchObject({ local: false, command: expect.stringContaining('198.51.100.1') })
  expect(asked.some(line => line.includes('replace'))).toBe(false)
})

test('systems without AnyIP are told so', async () => {
  const { run, asked } = fakeIp({})
  const [route] = await new Routes(run, 'darwin').load(['198.51.100.0/24'], [])
  expect(route?.local).toBe(false)
  expect(asked).toEqual([])
})
