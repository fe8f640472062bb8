import { expect, test } from 'vitest'
import { startNameServer } from '../mail/name-server.fixture.ts'
import { resolvePublicHost } from './post.ts'
import { useStarted } from '../../testing/use-started.ts'

const dns = useStarted(startNameServer)

const ask = (name: string) => resolvePublicHost(name, AbortSignal.timeout(20_000), [dns.address])

test('a name that does not exist has no addresses, and a failing name server gives null', async () => {
  dns.publish({})
  expect(await ask('nowhere.test')).toEqual([])
  for (const fault of ['failure', 'refused'] as const) {
    dns.fail(fault)
    expect(await ask('nowhere.test'), fault).toBeNull()
  }
  expect(await ask('203.0.113.7')).toEqual(['203.0.113.7'])
})
