// Who supervises the agent, and whether the supervisor follows a process that takes over.
import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { controlOf, layoutOf } from '../../server/src/domains/provisioning/layout.ts'
import { isLinux, kill, managersOf, processesOf } from './process.ts'
import { caller, echoTarget, lease, onEnd, randomNet, tempFolder, token, tunnel, until } from './test-agent.ts'
import { servingAgent } from './takeovers.ts'

test.runIf(isLinux)('where no supervisor follows a new process none is started, and the agent says why', async () => {
  const { agent, folder, info, ip, takeOver } = await servingAgent({ AGENT_WORKERS: '0', AGENT_PID_FILE: '' })
  const echo = await echoTarget()
  const { rawClient } = await tunnel(ip, agent.proxyPort, 'u', echo.host)
  const { program_started_at: since } = await info()
  const after = await takeOver()
  expect(after).toMatchObject({
    program_started_at: since,
    takeover: { state: 'failed', reason: expect.stringMatching(/AGENT_PID_FILE/) as unknown }
  })
  await until('what the agent says', async () => /this one continues: .*AGENT_PID_FILE/.test(agent.output()))
  expect(await managersOf(folder)).toEqual([agent.child.pid])
  rawClient.send('still here')
  await rawClient.take(/still here/)
})

test('a file that cannot be written is told at the start', async () => {
  const { exited, output } = await servingAgent({ AGENT_PID_FILE: '/nowhere/agent.pid' }).then(
    ({ agent }) => agent,
    (error: Error) => ({ exited: Promise.resolve(1), output: () => error.message })
  )
  expect(await exited).toBe(1)
  expect(output()).toContain('The file of AGENT_PID_FILE cannot be written (ENOENT).')
})

test.runIf(isLinux)(
  'the control script of a server without systemd follows a new process, and ends it',
  async () => {
    const root = await tempFolder()
    const layout = layoutOf(root)
    onEnd(async () => (await processesOf(layout.state)).forEach(pid => kill(pid)))
    for (const path of [layout.control, layout.environment, layout.log, layout.state])
      await mkdir(dirname(path), { recursive: true })
    await symlink(process.execPath, layout.node)
    await writeFile(layout.agent, `import '${fileURLToPath(new URL('../src/main.ts', import.meta.url))}'\n`)
    const settings = ['PROXY_PORT=0', 'AGENT_PORT=0', 'PROXY_HOST=0.0.0.0', 'AGENT_WORKERS=0', `AGENT_TOKEN=${token}`]
    const more = ['AGENT_ALLOW_DESTINATIONS=127.0.0.0/8', `DATA_DIR=${layout.state}`]
    await writeFile(layout.environment, `${[...settings, ...more].join('\n')}\n`)
    await writeFile(layout.control, controlOf(layout))
    await chmod(layout.control, 0o755)
    const control = (verb: string) => promisify(execFile)(layout.control, [verb])
    await control('start')
    const log = () => readFile(layout.log, 'utf8').catch(() => '')
    const listening = /Proxies listen on port (\d+), the management API on \S+:(\d+)\./g
    const [, proxyPort, port] = await until('the agent', async () => [...(await log()).matchAll(listening)][0])
    const number = async (): Promise<number> => Number(await readFile(layout.pid, 'utf8'))
    const first = await number()
    const [call, net, echo] = [caller(Number(port)), randomNet(), await echoTarget()]
    await call('PUT', '/api/prefixes', { prefixes: [`${net}.0.0/16`] })
    await lease(call, 'u', [`${net}.1.1/32`])
    const { rawClient } = await tunnel(`${net}.1.1`, Number(proxyPort), 'u', echo.host)
    await control('reload')
    await until('another process', async () => (await number()) !== first)
    rawClient.send('still here')
    await rawClient.take(/still here/)
    rawClient.socket.destroy()
    await until('the old one to end', async () => (await managersOf(layout.state)).length === 1)
    expect(await managersOf(layout.state)).toEqual([await number()])
    await control('stop')
    expect(await processesOf(layout.state)).toEqual([])
  },
  120_000
)
