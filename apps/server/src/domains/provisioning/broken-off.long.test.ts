// Installations that end between writing and starting, and those that fail before they have changed anything.
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { connectSsh } from '../../integrations/ssh/index.ts'
import { otherProgram, startInstalledMachine } from './installed.fixture.ts'
import { machineOf } from './machine.ts'
import { useStarted } from '../../testing/use-started.ts'

const one = useStarted(() => startInstalledMachine('127.93.0.0/24'))

test('settings that were written and not started are started by the next installation', async () => {
  const before = await one.pid()
  await one.set({ agentSettings: { AGENT_IDLE_SECONDS: '71' } })
  const settings = { init: false, settings: true }
  await one.whileReplacing(one.cancelAt("bin/control' restart"), () => one.install(settings))
  expect(await one.row()).toMatchObject({ provisioning: { status: 'cancelled' }, agentSettingsApplied: {} })
  expect(await readFile(one.layout.environment, 'utf8')).toContain('AGENT_IDLE_SECONDS=71')
  expect(await one.pid()).toBe(before)

  const again = await one.install(settings)
  expect(again).toMatchObject({ status: 'done' })
  expect(again?.said).toContainEqual({ code: 'restarted', params: {} })
  const after = await one.pid()
  expect(after).not.toBe(before)
  expect(await readFile(`/proc/${after}/environ`, 'utf8')).toContain('AGENT_IDLE_SECONDS=71')
  expect(existsSync(one.layout.unstarted)).toBe(false)
  // Only once: the next installation finds nothing to do.
  expect(await one.install(settings)).toMatchObject({ status: 'done' })
  expect(await one.pid()).toBe(after)
})

test('so is a program: an upgrade that broke off is finished by the next try', async () => {
  const bundle = await otherProgram(code => `// newer\n${code}`)
  const pid = await one.pid()
  await one.whileReplacing(one.cancelAt("bin/control' restart"), () => one.install({ bundle }))
  expect(await readFile(one.layout.agent, 'utf8')).toMatch(/^\/\/ newer/)
  expect([await one.pid(), await one.version()]).not.toContain('9.9.9')
  expect(await one.pid()).toBe(pid)
  expect(await one.install({ bundle, waitMs: 5000 })).toMatchObject({ status: 'done' })
  expect(await one.version()).toBe('9.9.9')
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

  // Files that were written but not started are restored without telling the agent.
  await one.set({ agentSettings: { AGENT_IDLE_SECONDS: '72' } })
  const written = await one.withoutForwarding(() =>
    one.whileReplacing(broken('sysctl -e'), () => one.install({ bundle }))
  )
  expect(written).toMatchObject({ status: 'failed', step: 'configure', said: [{ code: 'rolled_back' }] })
  expect(await readFile(one.layout.environment, 'utf8')).toContain('AGENT_IDLE_SECONDS=71')
  expect(await one.pid()).toBe(pid)
  expect(existsSync(one.layout.unstarted)).toBe(false)
  await one.set({ agentSettings: { AGENT_IDLE_SECONDS: '71' } })
})

test('nothing is copied if there is no room, and no half file stays', async () => {
  const bundle = await otherProgram(code => `// newest\n${code}`)
  const leftover = `${one.layout.node}.new`
  await writeFile(leftover, 'half of a runtime')
  const full = (command: string) =>
    command.includes('df -Pk') ? 'echo $$ >&2; echo "/dev/sda1 100000 99999 1 100% /"' : command
  const failed = await one.whileReplacing(full, () => one.install({ bundle }))
  expect(failed).toMatchObject({ status: 'failed', step: 'upload', said: [{ code: 'no_room', params: { free: 0 } }] })
  // The runtime is there already, so this is the agent and the copy that is kept of it.
  expect(failed?.said?.[0]?.params['needed']).toBe(Math.ceil((2 * bundle.code.length) / 1024 / 1024))
  expect(existsSync(leftover)).toBe(false)
  // Nothing to copy needs no room.
  const same = await otherProgram(code => `// newer\n${code}`)
  expect(await one.whileReplacing(full, () => one.install({ bundle: same }))).toMatchObject({ status: 'done' })

  const { sshPort } = await one.row()
  const target = { host: '127.0.0.1', port: sshPort, username: 'root', secret: 'x', knownHostKey: null }
  const connected = await connectSsh(target)
  if (!connected.ok) throw new Error(connected.message)
  const { signal } = new AbortController()
  const machine = machineOf(connected.session, { print: () => {}, signal })
  const file = `${one.root}/cut`
  await expect(machine.put(file, '600', { sha256: '0'.repeat(64), text: 'half' })).rejects.toThrow('did not arrive')
  expect(existsSync(`${file}.new`)).toBe(false)
  connected.session.close()
})
