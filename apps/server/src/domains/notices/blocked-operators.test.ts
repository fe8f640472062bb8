import type { NoticeChannel, NoticeSend, Page } from '@netlet/contract'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { blockAddresses } from '../mail/blocked-addresses.ts'
import { blockedAddresses } from '../mail/tables.ts'
import { countUntold } from './list.ts'
import { openWorld, type World } from './notices.fixture.ts'

let world: World
let boss: Awaited<ReturnType<World['shop']['admin']>>
beforeAll(async () => {
  world = await openWorld()
  boss = await world.shop.admin()
})
afterAll(() => world?.close())
beforeEach(async () => {
  await world.clear()
  await world.ctx.db.delete(blockedAddresses)
})

const block = (address: string, cause: 'bounced' | 'complained') =>
  command(world.ctx, SYSTEM, unit =>
    blockAddresses(unit, [
      { address: address.toUpperCase(), cause, reason: 'x', source: 'sendgrid', at: world.ctx.now() }
    ])
  )
const tell = async () => {
  world.found.set('mails', [{ subject: '', words: 'mails', params: { count: 1 } }])
  await world.watch()
  await world.sendDue()
  return (await world.sends()).at(-1)
}

test('where no operator of a mail channel takes mail, its notices count as not told, and the channel says why', async () => {
  const channel = await world.channel({ kind: 'mail', target: '', user_ids: [boss.user.id] })
  await block(boss.user.email, 'bounced')
  expect(await tell()).toMatchObject({ state: 'failed', failure: 'blocked_recipients', mailKeys: null })
  expect(await countUntold(world.ctx.db)).toBe(1)
  const { data } = await boss.get<Page<NoticeChannel>>('/api/settings/notices/channels/')
  expect(data.data[0]).toMatchObject({ failure: 'blocked_recipients', failing_since: expect.any(String) as string })
  const test = await boss.post<{ send_id: number }>(`/api/settings/notices/channels/${channel.id}/test/`, {})
  await world.sendDue()
  expect((await boss.get<NoticeSend>(`/api/settings/notices/sends/${test.data.send_id}/`)).data).toMatchObject({
    state: 'failed',
    failure: 'blocked_recipients'
  })
})

test('the others of a channel get it; who calls other mails spam gets notices all the same', async () => {
  const other = await world.shop.admin()
  await world.channel({ kind: 'mail', target: '', user_ids: [boss.user.id, other.user.id] })
  await block(boss.user.email, 'bounced')
  await block(other.user.email, 'complained')
  const send = await tell()
  expect(send).toMatchObject({ state: 'sent', mailKeys: [`notice:${send?.key}:${other.user.id}`] })
})
