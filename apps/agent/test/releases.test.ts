import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bundleAgent } from '../../server/src/integrations/agent/bundle.ts'
import { isLinux, kill } from './process.ts'
import { servingAgent } from './takeovers.ts'
import { echoTarget, tempFolder, tunnel, until } from './test-agent.ts'

test.runIf(isLinux)('a worker that ends while the link names another release is started from its own', async () => {
  const folder = await tempFolder()
  const programs = { one: (await bundleAgent()).code, other: 'process.exit(9)\n' }
  for (const [name, text] of Object.entries(programs)) {
    await mkdir(join(folder, name, 'bin'), { recursive: true })
    await writeFile(join(folder, name, 'bin/agent.mjs'), text)
    await writeFile(join(folder, name, 'package.json'), '{"version":"1.2.3"}')
    await symlink(name, join(folder, `to-${name}`))
  }
  const { agent, call, ip, workers } = await servingAgent({}, join(folder, 'to-one/bin/agent.mjs'))
  const echo = await echoTarget()
  await rename(join(folder, 'to-other'), join(folder, 'to-one'))
  await until('the loss to show', async () => {
    // On a busy machine replacements start while this test waits, so they are killed, too.
    for (const pid of await workers()) kill(pid)
    return (await call('GET', '/healthz')).status === 503
  })
  await until('the worker to be back', async () => (await call('GET', '/healthz')).status === 200)
  expect((await tunnel(ip, agent.proxyPort, 'u', echo.host)).status).toBe(200)
  expect(agent.output()).not.toMatch(/status 9/)
})
