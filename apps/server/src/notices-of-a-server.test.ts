import { NoticeChannelForm } from '@netlet/contract'
import { asc, eq, isNull } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPERATORS_WEBHOOK } from '../../sandbox/src/discord/incoming-webhooks.ts'
import { startServersStack, type ServersStack } from './domains/delivery/servers/servers.fixture.ts'
import { createChannel } from './domains/notices/channels.ts'
import { sendNotice } from './domains/notices/send.ts'
import { noticeChannels, notices, noticeSends } from './domains/notices/tables.ts'
import { watchNotices } from './domains/notices/watch.ts'
import { SYSTEM } from './infra/actor.ts'
import { MINUTE } from './infra/clock.ts'
import type { AppContext } from './infra/context.ts'
import { noticePorts } from './notice-ports.ts'

// From a dead agent to the operators' room of the stand-in chat, and back.

type Posted = { content: string; embeds: { title?: string; description?: string }[] }

let stack: ServersStack
let ctx: AppContext
// The longest wait for a silent chat.
const ports = {
  ...noticePorts,
  timeoutMs: 1500,
  finders: noticePorts.finders.filter(one => one.cause === 'server_down')
}

beforeAll(async () => {
  stack = await startServersStack('127.68.0.0/28')
  ctx = { ...stack.ctx, config: { ...stack.ctx.config, webhookOrigins: [stack.platform.url] } }
  await ctx.db.delete(noticeChannels)
  const form = { name: 'Room', kind: 'chat', target: `${stack.platform.url}${OPERATORS_WEBHOOK}` }
  const made = await createChannel(ctx, SYSTEM, ports, NoticeChannelForm.parse(form))
  if (!made.ok) throw new Error(made.reason)
}, 120_000)
afterAll(() => stack?.close())

const fault = (kind: string) =>
  fetch(`${stack.platform.url}/sandbox/discord/webhook_faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind })
  })
/** Newest first. */
const room = async () => (await (await fetch(`${stack.platform.url}/chat/operators.json`)).json()) as Posted[]
const last = async () => (await ctx.db.select().from(noticeSends).orderBy(asc(noticeSends.id))).at(-1)

/** Runs the minute's jobs, after any pause between two tries. */
async function work(): Promise<void> {
  stack.pass(20 * MINUTE)
  const waiting = await ctx.db.select().from(noticeSends).where(eq(noticeSends.state, 'waiting'))
  for (const { id } of waiting) await sendNotice(ctx, ports, id, 'job')
}
async function die(): Promise<void> {
  await stack.first.agent.stop()
  const isDown = async () => {
    stack.pass(2 * MINUTE)
    await stack.health()
    await watchNotices(ctx, ports.finders)
    return ctx.db.$count(notices, isNull(notices.closedAt))
  }
  await expect.poll(isDown, { timeout: 30_000 }).toBe(1)
}
async function applyReturn(): Promise<void> {
  await stack.first.agent.start()
  await stack.health()
  await stack.health()
  await watchNotices(ctx, ports.finders)
}

test('a dead agent causes one notice, with any reply of the chat in between, and so does its return', async () => {
  await watchNotices(ctx, ports.finders)
  expect(await ctx.db.$count(notices)).toBe(0)
  await die()
  const faults = [
    // The chat may already have these two, so they are not repeated often: they come first.
    ['half', 'cut_off', null],
    ['silence', 'timeout', null],
    ['busy', 'status', 429],
    ['error500', 'status', 500],
    ['html', 'no_chat', 200]
  ] as const
  for (const [at, [kind, failure, status]] of faults.entries()) {
    await fault(kind)
    await work()
    expect(await last()).toMatchObject({ state: 'waiting', tries: at + 1, failure, ...(status ? { status } : {}) })
    expect(await room()).toEqual([])
  }
  await work()
  expect(await last()).toMatchObject({ state: 'sent', tries: faults.length + 1 })
  const [told] = await room()
  expect(told?.content).toMatch(/^\[Critical\] /)
  await watchNotices(ctx, ports.finders)
  await work()
  expect(await room()).toHaveLength(1)

  await applyReturn()
  await work()
  const both = await room()
  expect(both).toHaveLength(2)
  expect(both[0]?.content).toMatch(/over|back|again|ended/i)
  await watchNotices(ctx, ports.finders)
  await work()
  expect(await room()).toHaveLength(2)
}, 120_000)

test('a room that was deleted is given up at once, and the channel says so', async () => {
  await die()
  await fault('gone')
  await work()
  expect(await last()).toMatchObject({ state: 'failed', status: 404, tries: 1 })
  const [channel] = await ctx.db.select().from(noticeChannels)
  expect(channel).toMatchObject({ failure: 'status' })
  await applyReturn()
}, 60_000)
