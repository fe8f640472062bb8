// Installations that end between writing and starting, and those that fail before they have changed anything.
import { exec } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { deafProgram, otherProgram, startInstalledMachine } from './installed.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'

const one = useStarted(() => startInstalledMachine('127.93.0.0/24'))

test('settings that were not started change nothing, and the next installation starts them', async () => {
  const before = await one.pid()
  await one.set({ agentSettings: { AGENT_IDLE_SECONDS: '71' } })
  const settings = { init: false, settings: true }
  await one.whileReplacing(one.cancelAt("bin/control' restart"), () => one.install(settings))
  expect(await one.row()).toMatchObject({ provisioning: { status: 'cancelled' }, agentSettingsApplied: {} })
  expect(await readFile(one.layout.environment, 'utf8')).not.toContain('AGENT_IDLE_SECONDS')
  expect(await one.pid()).toBe(before)

  const again = await one.install(settings)
  expect(again).toMatchObject({ status: 'done' })
  expect(again?.said).toContainEqual({ code: 'restarted', params: {} })
  const after = await one.pid()
  expect(after).not.toBe(before)
  expect(await readFile(`/proc/${after}/environ`, 'utf8')).toContain('AGENT_IDLE_SECONDS=71')
  // Only once: the next installation finds nothing to do.
  expect(await one.install(settings)).toMatchObject({ status: 'done' })
  expect(await one.pid()).toBe(after)
})

test('an upgrade that broke off after the switch is finished by the next try, and leaves nothing', async () => {
  const bundle = await otherProgram(code => `// newer\n${code}`)
  const pid = await one.pid()
  const cancel = one.cancelAt("bin/control' restart")
  const halfWay = async (command: string) =>
    (await cancel(command)) === command ? command : command.replace(/'[^']*control' restart/, 'sleep 60')
  await one.whileReplacing(halfWay, () => one.install({ bundle }))
  expect(await readFile(one.layout.agent, 'utf8')).toMatch(/^\/\/ newer/)
  expect(await one.pid()).toBe(pid)
  expect(await one.install({ bundle, waitMs: 5000 })).toMatchObject({ status: 'done' })
  expect(await one.version()).toBe('9.9.9')
  expect(await readdir(join(one.layout.home, 'releases'))).toHaveLength(2)
})

test('an upgrade of several servers writes the settings that were applied, and no others', async () => {
  const before = await readFile(one.layout.environment, 'utf8')
  const pid = await one.pid()
  const { agentSettings: applied } = await one.row()
  // As after the restore of an older database, which knows none of them.
  await one.set({ agentSettings: { AGENT_CONNECTIONS: '1' }, agentSettingsApplied: {} })
  const bundle = await otherProgram(code => `// newer\n${code}`)
  expect(await one.install({ bundle, asApplied: true })).toMatchObject({ status: 'done' })
  expect(await readFile(one.layout.environment, 'utf8')).toBe(before)
  expect(await one.pid()).toBe(pid)
  expect(await one.row()).toMatchObject({
    agentSettings: { AGENT_CONNECTIONS: '1' },
    agentSettingsApplied: { AGENT_IDLE_SECONDS: '71' }
  })
  await one.set({ agentSettings: applied })
})

test('an installation that changed nothing leaves the agent that runs alone when it fails', async () => {
  const pid = await one.pid()
  const bundle = await otherProgram(code => `// newer\n${code}`)
  const broken = (part: string) => (command: string) => (command.includes(part) ? 'echo broken >&2; exit 1' : command)
  const failed = await one.whileReplacing(broken("bin/node' --version"), () => one.install({ bundle }))
  expect(failed).toMatchObject({ status: 'failed', step: 'upload', said: [{ code: 'runtime_fails' }] })
  expect(await one.pid()).toBe(pid)

  // The settings of a release that was not started are not the agent's.
  await one.set({ agentSettings: { AGENT_IDLE_SECONDS: '72' } })
  const written = await one.whileReplacing(broken('sysctl -e'), () => one.install({ bundle }))
  expect(written).toMatchObject({ status: 'failed', step: 'configure', said: [{ code: 'machine_said' }] })
  expect(await readFile(one.layout.environment, 'utf8')).toContain('AGENT_IDLE_SECONDS=71')
  expect(await one.pid()).toBe(pid)
  await one.set({ agentSettings: { AGENT_IDLE_SECONDS: '71' } })
  // Another installation takes the release for a leftover.
  const removing = (command: string) =>
    command.replace('sysctl -e', `rm -r ${one.layout.home}/releases/9.9.8.*; sysctl -e`)
  const other = { bundle: await otherProgram(String, '9.9.8') }
  expect(await one.whileReplacing(removing, () => one.install(other))).toMatchObject({ status: 'failed' })
  expect(await one.pid()).toBe(pid)
})

test('nothing is copied if there is no room, and no half file stays', async () => {
  const bundle = await otherProgram(code => `// newest\n${code}`)
  await mkdir(join(one.layout.home, 'releases/half'))
  const full = (command: string) =>
    command.includes('df -Pk') ? 'echo $$ >&2; echo "/dev/sda1 100000 99999 1 100% /"' : command
  const failed = await one.whileReplacing(full, () => one.install({ bundle }))
  expect(failed).toMatchObject({ status: 'failed', step: 'upload', said: [{ code: 'no_room', params: { free: 0 } }] })
  // The runtime is there already, so this is the agent.
  expect(failed?.said?.[0]?.params['needed']).toBe(Math.ceil(bundle.code.length / 1024 / 1024))
  expect(await readdir(join(one.layout.home, 'releases'))).not.toContain('half')
  // Nothing to copy needs no room.
  const same = await otherProgram(code => `// newer\n${code}`)
  expect(await one.whileReplacing(full, () => one.install({ bundle: same }))).toMatchObject({ status: 'done' })

  const cut = await one.install({ bundle: { ...bundle, sha256: '0'.repeat(64) } })
  expect(cut).toMatchObject({ status: 'failed', message: expect.stringContaining('damaged or incomplete') as string })
})

test('a server that an earlier console installed goes on over a failed upgrade, and gets the new layout', async () => {
  const { home, environment } = one.layout
  // One program in `bin`, and copies of what last worked.
  const former = `cd ${home} && bin/control stop && cp -a current/ now && rm bin good ${environment} && mkdir good &&
    cp -a now/package.json now/agent.env now/bin/* now/level good/ && mv now/bin now/package.json . &&
    mv now/agent.env ${environment} && rm -r now releases current previous && bin/control start`
  await promisify(exec)(former)
  const now = async () => [await one.version(), await readFile(environment, 'utf8')]
  await expect.poll(now).toContain('9.9.9')
  const [before, pid] = [await now(), await one.pid()]
  const broken = (command: string) => (command.includes('mktemp') ? null : command)
  const deaf = await deafProgram()
  expect(await one.whileReplacing(broken, () => one.install({ bundle: deaf }))).toMatchObject({ status: 'failed' })
  expect(await one.pid()).toBe(pid)
  expect(await one.install({ bundle: deaf })).toMatchObject({ status: 'failed', said: [{ code: 'rolled_back' }] })
  expect(await now()).toEqual(before)
  const bundle = await otherProgram(code => `// newer still\n${code}`, '9.9.10')
  expect(await one.install({ bundle })).toMatchObject({ status: 'done' })
  expect([await one.version(), await one.release('previous')]).toEqual(['9.9.10', 'former'])
  expect((await readdir(home)).toSorted()).toEqual(['agent.pid', 'bin', 'current', 'good', 'previous', 'releases'])
})
