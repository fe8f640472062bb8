import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import { acknowledgeNotice, muteNotice, noticeList, readNotice, readSend } from './list.ts'
import { channelList, createChannel, deleteChannel, testChannel, updateChannel } from './channels.ts'
import { type NoticePorts, presentRules, readRules, saveRules } from './rules.ts'

export function noticeRoutes(mount: Mount, ctx: AppContext, ports: NoticePorts): void {
  const { notices } = routes
  const { db } = ctx
  mountList(mount, ctx, notices.notices, () => noticeList)
  mount(notices.rules, async () => ok(presentRules(await readRules(db))))
  mount(notices.saveRules, ({ caller, body }) => saveRules(ctx, caller, body))
  mountList(mount, ctx, notices.channels, () => channelList(ports))
  mount(notices.createChannel, ({ caller, body }) => createChannel(ctx, caller, ports, body))
  mount(notices.updateChannel, ({ caller, params, body }) =>
    updateChannel(ctx, caller, ports, { id: params.id, form: body })
  )
  mount(notices.deleteChannel, ({ caller, params }) => deleteChannel(ctx, caller, params.id))
  mount(notices.testChannel, ({ caller, params }) => testChannel(ctx, caller, params.id))
  mount(notices.send, ({ params }) => readSend(db, params.id))
  mount(notices.notice, ({ params }) => readNotice(db, params.id))
  mount(notices.acknowledge, ({ caller, params }) => acknowledgeNotice(ctx, caller, ports.finders, params.id))
  mount(notices.mute, ({ caller, params, body }) => muteNotice(ctx, caller, params.id, body.hours))
}
