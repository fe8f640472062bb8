// An installation that ends well with a proxy that nobody reaches.
import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { checkServers } from '../health.ts'
import { sells } from '../selling.ts'
import { deafProgram, otherProgram, startInstalledMachine } from './installed.fixture.ts'
import { useStarted } from '../../../testing/use-started.ts'

const one = useStarted(() => startInstalledMachine('127.79.0.0/24'))

test('what was silent in its check sells nothing, however often it is installed, until a request comes through', async () => {
  // Nothing is known of what served before, as on a machine that is installed for the first time.
  await rm(one.layout.good, { recursive: true })
  await one.set({ connected: false })
  const unserved = { connected: true, offline: true, trouble: 'not_served', unservedSince: expect.any(Date) as Date }
  const deaf = await deafProgram()
  const silent = { status: 'done', said: expect.arrayContaining([{ code: 'proxy_silent', params: expect.anything() }]) }
  expect(await one.install({ bundle: deaf })).toMatchObject(silent)
  expect(await one.row()).toMatchObject(unserved)
  expect(await one.install({ bundle: deaf })).toMatchObject(silent)
  expect(await one.row()).toMatchObject(unserved)
  // One that sold until now does not either, though nothing is started there.
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
