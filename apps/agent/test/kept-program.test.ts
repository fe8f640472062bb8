import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bundleAgent } from '../../server/src/integrations/agent/bundle.ts'
import { isLinux, kill } from './process.ts'
import { removeOtherCopies, copyProgram } from '../src/workers/program-copies.ts'
import { servingAgent } from './takeovers.ts'
import { echoTarget, tempFolder, tunnel, until } from './test-agent.ts'

test.runIf(isLinux)(
  'a worker that ends while another program is in the place of its own is started from its own',
  async () => {
    const folder = await tempFolder()
    const program = join(folder, 'bin', 'agent.mjs')
    await mkdir(join(folder, 'bin'))
    await writeFile(program, (await bundleAgent()).code)
    await writeFile(join(folder, 'package.json'), '{"version":"1.2.3"}')
    const data = join(folder, 'data')
    const { agent, call, ip, workers } = await servingAgent({ DATA_DIR: data }, program)
    const echo = await echoTarget()
    await writeFile(`${program}.new`, 'process.exit(9)\n')
    await rename(`${program}.new`, program)
    await until('the loss to show', async () => {
      // On a busy machine replacements start while this test waits, so they are killed, too.
      for (const pid of await workers()) kill(pid)
      return (await call('GET', '/healthz')).status === 503
    })
    await until('the worker to be back', async () => (await call('GET', '/healthz')).status === 200)
    expect((await tunnel(ip, agent.proxyPort, 'u', echo.host)).status).toBe(200)
    expect(agent.output()).not.toMatch(/status 9/)
    // Copies that no process uses are deleted.
    const path = join(data, 'agent')
    const kept = await copyProgram(program, path)
    const copies = async () => (await readdir(path)).filter(name => name.startsWith('program-'))
    expect(await copies()).toHaveLength(2)
    await removeOtherCopies(kept, path)
    expect((await copies()).map(name => join(path, name))).toEqual([kept])
  },
  120_000
)
