// Servers whose new program does not serve, and where something else fails as well.
import { execFile } from 'node:child_process'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { eq } from '../../infra/db/drizzle.ts'
import { beforeAll, expect, test } from 'vitest'
import { freePort } from '../../testing/free-ports.ts'
import { convergeServer } from '../convergence/converge.ts'
import { noOrders, wantTestUsers } from '../convergence/fleet.fixture.ts'
import { checkServers } from '../convergence/check-servers.ts'
import { agentTies } from '../convergence/tables.ts'
import { deafProgram, otherProgram, startInstalledMachine } from './installed.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'
import { sells } from '../servers/server-row.ts'

const one = useStarted(() => startInstalledMachine('127.92.0.0/24'))

beforeAll(async () => {
  await wantTestUsers(one.world.ctx, one.id, { count: 1, base: '127.92.0' })
  await convergeServer(one.world.ctx, one.id, noOrders(one.world.ctx))
}, 120_000)

/** A part of the command that switches back to the release that is good now. */
const goingBack = async () => `'releases/${await one.release('good')}' current`

test('a connection that broke is made again, so that a deaf program does not stay', async () => {
  const before = [await one.version(), await one.release()]
  const [back, bundle] = [await goingBack(), await deafProgram()]
  let isBroken = false
  const breakOnce = (command: string) => {
    if (isBroken || !command.includes(back)) return command
    isBroken = true
    return null
  }
  const failed = await one.whileReplacing(breakOnce, () => one.install({ bundle }))
  expect(isBroken).toBe(true)
  expect(failed).toMatchObject({ status: 'failed', step: 'check', said: [{ code: 'rolled_back' }] })
  expect([await one.version(), await one.release()]).toEqual(before)
  expect(sells(await one.row())).toBe(true)
})

test('a rollback that worked does not count as failed if sshd forwards no ports', async () => {
  const before = await one.version()
  const bundle = await otherProgram(() => 'process.exit(3)')
  const failed = await one.withoutForwarding(() => one.install({ bundle, waitMs: 500 }))
  expect(failed).toMatchObject({ status: 'failed', step: 'wait', said: [{ code: 'rolled_back' }] })
  expect(await one.version()).toBe(before)
  expect(sells(await one.row())).toBe(true)
})

test('a server whose rollback failed sells nothing until its proxy answers', async () => {
  const back = await goingBack()
  const noWayBack = (command: string) => (command.includes(back) ? 'echo broken >&2; exit 1' : command)
  const failed = await one.whileReplacing(noWayBack, async () => one.install({ bundle: await deafProgram() }))
  expect(failed).toMatchObject({ status: 'failed', said: [{ code: 'rollback_failed' }] })
  expect(await one.row()).toMatchObject({ offline: true, trouble: 'not_served' })
  // It answers its health check, but does not serve.
  await checkServers(one.world.ctx)
  expect(await one.row()).toMatchObject({ connected: true, offline: true, trouble: 'not_served' })

  const good = await otherProgram(code => `// good\n${code}`)
  expect(await one.install({ bundle: good })).toMatchObject({ status: 'done' })
  expect(await one.row()).toMatchObject({ offline: false, trouble: null, unservedSince: null })
  // The same for a server that an operator repaired by hand: the next health check tries it.
  await one.set({ offline: true, unservedSince: one.world.ctx.now() })
  await checkServers(one.world.ctx)
  expect(await one.row()).toMatchObject({ offline: false, trouble: null, unservedSince: null })
})

test('what an installation started sells nothing until it has passed its check, however the installation ends', async () => {
  const { ctx } = one.world
  const good = await otherProgram(code => `// serves\n${code}`)
  let during: Awaited<ReturnType<typeof one.row>> | undefined
  const isStart = (command: string) => command.includes("bin/control' restart")
  const look = async (command: string) => {
    if (!isStart(command)) return command
    // As after a console whose process died here. The previous program answers, which says nothing about the new one.
    await checkServers(ctx)
    during = await one.row()
    return command
  }
  expect(await one.whileReplacing(look, () => one.install({ bundle: good }))).toMatchObject({ status: 'done' })
  expect(during).toMatchObject({ offline: false, trouble: null, unservedSince: expect.any(Date) as Date })
  expect(during && sells(during)).toBe(false)
  expect(sells(await one.row())).toBe(true)

  // Cancelled during the rollback: the deaf program stays.
  const deaf = await deafProgram()
  expect(await one.whileReplacing(one.cancelAt(await goingBack()), () => one.install({ bundle: deaf }))).toMatchObject({
    status: 'cancelled'
  })
  expect(await one.row()).toMatchObject({ offline: true, trouble: 'not_served' })
  await checkServers(ctx)
  expect(await one.row()).toMatchObject({ offline: true, trouble: 'not_served' })
  // A silent program is no measure for the next one. The good one is known to have served.
  expect(await one.install({ bundle: deaf })).toMatchObject({ status: 'failed', said: [{ code: 'rolled_back' }] })
  // The previous program runs again, and the health check tries its proxy.
  await checkServers(ctx)
  expect(await one.row()).toMatchObject({ offline: false, trouble: null, unservedSince: null })
})

test('one that serves another port than customers are shown sells nothing until both are the same', async () => {
  const { ctx } = one.world
  const { proxyPort: ours } = await one.row()
  const theirs = await freePort()
  const before = await readFile(one.layout.local, 'utf8')
  const restart = () => promisify(execFile)(one.layout.control, ['restart'])
  await appendFile(one.layout.local, `PROXY_PORT=${theirs}\n`)
  await restart()
  const look = async () => {
    await checkServers(ctx)
    return one.row()
  }
  const told = { trouble: 'other_port', troubleParams: { theirs, ours }, offline: true }
  await expect.poll(look).toMatchObject({ connected: true, ...told })
  expect(sells(await one.row())).toBe(false)
  // Another installation cannot serve the other port either, and says why. The row names the port that is served.
  const good = await otherProgram(code => `// other port\n${code}`)
  const failed = await one.install({ bundle: good })
  expect(failed).toMatchObject({ status: 'failed', step: 'check', said: [{ code: 'rolled_back' }] })
  expect(failed?.message).toContain(`${one.layout.local} on the machine sets PROXY_PORT`)
  expect(await look()).toMatchObject({ proxyPort: theirs, trouble: null, offline: false, unservedSince: null })
  await one.set({ proxyPort: ours })
  await expect.poll(look).toMatchObject(told)
  await writeFile(one.layout.local, before)
  await restart()
  await expect.poll(look).toMatchObject({ trouble: null, offline: false, unservedSince: null })
  expect(sells(await one.row())).toBe(true)
})

test('a program is also tried if the ranges cannot be loaded', async () => {
  const { db } = one.world.ctx
  const ties = () => db.select().from(agentTies).where(eq(agentTies.serverId, one.id))
  const [before] = await ties()
  const older = { mark: '0000000000000000', nextMark: null }
  await db.update(agentTies).set(older).where(eq(agentTies.serverId, one.id))
  const version = await one.version()
  const deaf = await one.install({ bundle: await deafProgram() })
  expect(deaf).toMatchObject({ status: 'failed', step: 'check', said: [{ code: 'rolled_back' }] })
  expect(await one.version()).toBe(version)

  // A program that serves stays, and the message says that it runs.
  const good = await otherProgram(code => `// better\n${code}`, '9.9.10')
  const settings = { AGENT_IDLE_SECONDS: '73' }
  await one.set({ agentSettings: settings })
  const failed = await one.install({ bundle: good })
  expect(failed).toMatchObject({ status: 'failed', step: 'ranges', said: [{ code: 'runs_without_ranges' }] })
  expect(failed?.message).toContain('data that this console does not know')
  expect(await one.version()).toBe('9.9.10')
  expect(await one.row()).toMatchObject({ agentSettingsApplied: settings })

  // If that is known beforehand, nothing is copied.
  await one.set({ trouble: 'older_console', troubleParams: { removed: 1, changed: 0, ranges: 0 } })
  const refused = await one.install({ bundle: await deafProgram() })
  expect(refused).toMatchObject({ status: 'failed', step: 'examine', said: [{ code: 'older_console' }] })
  expect(await readFile(one.layout.agent, 'utf8')).toMatch(/^\/\/ better/)
  await db
    .update(agentTies)
    .set({ mark: before?.mark ?? null, nextMark: before?.nextMark ?? null })
    .where(eq(agentTies.serverId, one.id))
  await one.set({ trouble: null, troubleParams: null })
})
