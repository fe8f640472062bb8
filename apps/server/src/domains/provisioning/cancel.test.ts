import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { Server } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { beforeEach, expect, test, vi } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { addTestServer, serverRow, startFleetShop } from '../convergence/fleet.fixture.ts'
import { withServerLock } from '../servers/server-row.ts'
import { servers } from '../servers/tables.ts'
import { cancelProvisioning } from './cancel.ts'
import type { Work } from '../servers/installations.ts'
import { provisionServer } from './provision.ts'
import { useStarted } from '../../testing/use-started.ts'

const world = useStarted(startFleetShop)
const admin = useStarted(() => world.admin())
/** Runs when it is connected to. */
let onConnection: (socket: Socket) => Promise<void>
let connected: Promise<void>
/** A machine that accepts connections and says nothing. */
const silent = useStarted(async () => {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket.on('error', () => {}))
    connected = onConnection(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  }
})
let id: number
let count = 0
beforeEach(async () => {
  onConnection = async () => {}
  id = await addTestServer(world.ctx, `machine ${(count += 1)}`)
  await world.ctx.db
    .update(servers)
    .set({ ip: '127.0.0.1', sshPort: silent.port, sshPassword: world.ctx.secrets.seal('root secret') })
    .where(eq(servers.id, id))
})

const ask = () => admin.post<Server>(`/api/servers/servers/${id}/provision/`, { run_init: 1 })
const cancel = () => admin.post<Server>(`/api/servers/servers/${id}/provision/cancel/`, {})
const row = () => serverRow(world.ctx, id)
/** The jobs that wait for this server, as a worker gets them. */
async function jobs(): Promise<Work[]> {
  const { rows } = await world.ctx.db.execute<{ data: Work }>(
    sql`select data from pgboss.job where name = 'provision-server' and state = 'created'
      and (data ->> 'serverId')::int = ${id} order by created_on, id`
  )
  return rows.map(({ data }) => data)
}
const audits = async () => {
  const { rows } = await world.ctx.db.execute<{ before: unknown }>(
    sql`select before from audit_log where action = 'server.cancel_provision' and target_id = ${String(id)}`
  )
  return rows.map(({ before }) => before)
}
const work = (job: Work) => provisionServer(world.ctx, job, { root: '', username: 'root' })
const atStep = (step: string) =>
  vi.waitFor(async () => expect((await row()).provisioning).toMatchObject({ step, status: 'running' }), {
    timeout: 30_000,
    interval: 20
  })

test('one that waits for a worker ends at once, and its job does nothing', async () => {
  await ask()
  const reply = await cancel()
  expect(reply.data.provisioning).toMatchObject({
    status: 'cancelled',
    step: 'waiting',
    cancelling: false,
    message: ''
  })
  expect(await audits()).toEqual([{ step: 'waiting' }])
  for (const job of await jobs()) await work(job)
  expect((await row()).provisioning).toMatchObject({ status: 'cancelled', step: 'waiting' })
})

test('cancelling twice is the same as once, and it is refused if nothing is being installed', async () => {
  expect(await cancel()).toMatchObject({ code: 409, data: { reason: 'already_over' } })
  await ask()
  const replies = await Promise.all([cancel(), cancel(), cancel()])
  expect(replies.map(({ code }) => code)).toEqual([2000, 2000, 2000])
  expect(await audits()).toHaveLength(1)
  await world.ctx.db
    .update(servers)
    .set({ provisioning: sql`${servers.provisioning} || '{"status": "done"}'` })
    .where(eq(servers.id, id))
  expect(await cancel()).toMatchObject({ code: 409, data: { reason: 'already_over' } })
})

test('the call that names an installation does not cancel a later one, waiting or running', async () => {
  const begun = async () => (await row()).provisioning?.steps[0]?.started_at
  const cancelThis = (started_at: unknown) =>
    admin.post<Server>(`/api/servers/servers/${id}/provision/cancel/`, { started_at })
  await ask()
  const first = await begun()
  await cancel()
  await ask()
  expect(await cancelThis(first)).toMatchObject({ code: 409, data: { reason: 'stale' } })
  expect((await row()).provisioning).toMatchObject({ status: 'running', step: 'waiting' })
  // Its name stays once a worker has it.
  const second = await begun()
  const job = (await jobs()).at(-1)
  if (!job) throw new Error('no job')
  const running = work(job)
  await atStep('connect')
  expect(await begun()).toBe(second)
  expect(await cancelThis(first)).toMatchObject({ code: 409, data: { reason: 'stale' } })
  expect((await cancelThis(second)).code).toBe(2000)
  await running
  expect((await row()).provisioning).toMatchObject({ status: 'cancelled', step: 'connect' })
  expect((await cancelThis(second)).code).toBe(2000)
})

test('installing again after a cancellation is done, and the earlier job is not', async () => {
  await ask()
  await cancel()
  expect((await ask()).data.provisioning).toMatchObject({ status: 'running', step: 'waiting', cancelling: false })
  const [old, fresh] = await jobs()
  if (!old || !fresh) throw new Error('the second request was swallowed by the cancelled one')
  await work(old)
  expect((await row()).provisioning).toMatchObject({ status: 'running', step: 'waiting' })
})

test('is noticed by the installing process, while a machine does not answer, even if another process was asked', async () => {
  await ask()
  const [job] = await jobs()
  if (!job) throw new Error('no job')
  const running = work(job)
  await atStep('connect')
  const asked = await cancel()
  expect(asked.data.provisioning).toMatchObject({ status: 'running', cancelling: true })
  await running
  const shown = await admin.get<Server>(`/api/servers/servers/${id}/`)
  expect(shown.data.provisioning).toMatchObject({ status: 'cancelled', step: 'connect', cancelling: false })
  expect(shown.data.provisioning?.steps.at(-1)).toMatchObject({ step: 'connect', status: 'cancelled' })
})

test.each([
  ['it is cancelled', false, { status: 'cancelled', step: 'connect' }],
  ['what was asked for since stays', true, { status: 'running', step: 'waiting' }]
])('where one fails before it knows of its cancel, %s', async (_, isAskedAgain, shown) => {
  await ask()
  const [job] = await jobs()
  if (!job) throw new Error('no job')
  onConnection = async socket => {
    await cancel()
    if (isAskedAgain) await ask()
    socket.destroy()
  }
  await work(job)
  // It may notice the cancellation before all of that has happened.
  await connected
  expect((await row()).provisioning).toMatchObject(shown)
})

test('an installation whose worker died ends at once', async () => {
  await ask()
  const last = (await row()).provisioning
  if (!last) throw new Error('nothing was asked for')
  const steps = [{ ...last.steps[0], step: 'upload' as const }] as typeof last.steps
  await world.ctx.db
    .update(servers)
    .set({ provisioning: { ...last, step: 'upload', steps } })
    .where(eq(servers.id, id))
  expect((await cancel()).data.provisioning).toMatchObject({ status: 'cancelled', step: 'upload', message: '' })
})

test('what a later request wrote stays', async () => {
  await ask()
  // A worker has it, and ends only after another installation was requested.
  await withServerLock(
    world.ctx.db,
    id,
    async () => {
      await cancelProvisioning(world.ctx, SYSTEM, id)
      expect((await row()).provisioning).toMatchObject({ status: 'running' })
    },
    { lock: 'serverProvisioning' }
  )
  const [old] = await jobs()
  expect((await ask()).data.provisioning).toMatchObject({ status: 'running', cancelling: false })
  if (old) await work(old)
  expect((await row()).provisioning).toMatchObject({ status: 'running', step: 'waiting' })
})
