// An installation that succeeds although its proxy cannot be reached.
import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { checkServers } from '../convergence/check-servers.ts'
import { deafProgram, otherProgram, startInstalledMachine } from './installed.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'
import { sells } from '../servers/server-row.ts'

const one = useStarted(() => startInstalledMachine('127.79.0.0/24'))

test('a server whose check was silent sells nothing, even if it is installed again, until a request gets through', async () => {
  // Nothing is known of what served before, as in a first installation.
  for (const name of ['good', 'current/level']) await rm(`${one.layout.home}/${name}`)
  await one.set({ connected: false })
  const unserved = { connected: true, offline: true, trouble: 'not_served', unservedSince: expect.any(Date) as Date }
  const deaf = await deafProgram()
  const silent = { status: 'done', said: expect.arrayContaining([{ code: 'proxy_silent', params: expect.anything() }]) }
  expect(await one.install({ bundle: deaf })).toMatchObject(silent)
  expect(await one.row()).toMatchObject(unserved)
  expect(await one.install({ bundle: deaf })).toMatchObject(silent)
  expect(await one.row()).toMatchObject(unserved)
  // A server that sold until now goes out of stock too, although nothing is started there.
  await one.set({ offline: false, trouble: null, troubleParams: null, unservedSince: null })
  expect(await one.install({ bundle: deaf })).toMatchObject(silent)
  expect(await one.row()).toMatchObject(unserved)
  await checkServers(one.world.ctx)
  expect(await one.row()).toMatchObject(unserved)

  expect(await one.install({ bundle: await otherProgram(code => `// good\n${code}`) })).toMatchObject({
    status: 'done'
  })
  expect(sells(await one.row())).toBe(true)
})
