import { agentClassic, type AgentClassicProxies, type AgentReason, agentUserName } from '@netlet/contract/agent'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { randomInt } from 'node:crypto'
import { Readable } from 'node:stream'
import type { z } from 'zod'
import {
  changeBlacklist,
  changeWhitelist,
  createUser,
  createUserByPrefix,
  deleteAllUsers,
  updateUser,
  writeUserAcl
} from '../state/classic.ts'
import { deleteUser, proxiesOf, proxyLine, type UserChange } from '../state/commands.ts'
import type { Outcome } from '../state/store.ts'
import type { Control } from './control.ts'
import { sendRefusal } from './send-refusal.ts'

const PASSWORD_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789'
const newPassword = (): string =>
  Array.from({ length: 14 }, () => PASSWORD_LETTERS[randomInt(PASSWORD_LETTERS.length)]).join('')

/** The verbs that operators' scripts call. They work on the same state as the declarative calls. */
export function classicRoutes(app: FastifyInstance, control: Control): void {
  const { store } = control

  const lines = (user: string, record: UserChange['record']): string[] =>
    proxiesOf(user, record, control.proxyPort).map(proxyLine)

  const proxies = (proxy_str: string[]): AgentClassicProxies => ({
    status: 200,
    data: { num_of_ips: proxy_str.length, proxy_str }
  })

  const sendProxies = (reply: FastifyReply, outcome: Outcome<UserChange, AgentReason>): unknown =>
    outcome.ok ? proxies(lines(outcome.value.user, outcome.value.record)) : sendRefusal(reply, outcome)

  const sendData = (reply: FastifyReply, outcome: Outcome<unknown, AgentReason>): unknown =>
    outcome.ok ? { status: 200, data: outcome.value } : sendRefusal(reply, outcome)

  /** A verb with a JSON body. The first invalid field decides the refusal's reason. */
  const post = <S extends z.ZodType>(
    path: string,
    schema: S,
    handle: (body: z.output<S>, reply: FastifyReply) => unknown
  ): void => {
    app.post(path, async (request, reply) => {
      const body = schema.safeParse(request.body ?? {})
      if (body.success) return handle(body.data, reply)
      const field = body.error.issues[0]?.path[0]
      const reasons: Record<string, AgentReason> = { user: 'badUser', prefix: 'badPrefix', num_of_ips: 'badCount' }
      return sendRefusal(reply, { reason: reasons[String(field)] ?? 'badBody' })
    })
  }

  app.get('/api/view-server-info', () =>
    store.read(state => ({
      status: 200,
      data: {
        cidr: state.prefixes,
        num_of_users: state.users.size,
        proxy_port: control.proxyPort,
        version: state.version,
        epoch: store.epoch,
        owner: control.owner.owner,
        routes: control.routes.state,
        health: control.health(),
        load: control.load(),
        alarms: control.alarms.list(),
        ...control.program()
      }
    }))
  )

  app.get('/api/export-all-proxies', () =>
    store.read(state => proxies([...state.users].flatMap(([user, record]) => lines(user, record))))
  )

  post('/api/create-user', agentClassic.createUser, async ({ user, num_of_ips }, reply) => {
    if (!agentUserName.safeParse(user).success) return sendRefusal(reply, { reason: 'badUser' })
    return sendProxies(reply, await store.change(createUser(user, num_of_ips, newPassword())))
  })

  post('/api/create-user-by-prefix', agentClassic.createUserByPrefix, async (body, reply) => {
    if (!agentUserName.safeParse(body.user).success) return sendRefusal(reply, { reason: 'badUser' })
    const texts = Array.isArray(body.prefix) ? body.prefix : body.prefix.split(/[\s,]+/).filter(text => text !== '')
    const trim = { network: body.remove_network_addr, broadcast: body.remove_broadcast_addr }
    return sendProxies(reply, await store.change(createUserByPrefix(body.user, texts, trim, newPassword())))
  })

  post('/api/update-user', agentClassic.user, async ({ user }, reply) =>
    sendProxies(reply, await store.change(updateUser(user, newPassword())))
  )

  app.get('/api/view-all-users', () =>
    store.read(state => ({
      status: 200,
      data: {
        users: Array.from(state.users, ([user, record]) => ({
          user,
          prefixes: record.prefixes,
          whitelist_ips: record.allowedClientIps
        }))
      }
    }))
  )

  post('/api/view-user', agentClassic.user, async ({ user }, reply) => {
    const record = await store.read(state => state.users.get(user))
    if (record === undefined) return sendRefusal(reply, { reason: 'unknownUser' })
    const proxy_str = lines(user, record)
    const { prefixes, allowedClientIps: whitelist_ips } = record
    return { status: 200, data: { user, prefixes, whitelist_ips, num_of_ips: proxy_str.length, proxy_str } }
  })

  post('/api/delete-user', agentClassic.user, async ({ user }, reply) =>
    sendData(reply, await store.change(deleteUser(user)))
  )

  app.post('/api/delete-all-users', async (_request, reply) => sendData(reply, await store.change(deleteAllUsers())))

  post('/api/add-whitelist-ip', agentClassic.whitelist, async ({ user, ip }, reply) =>
    sendData(reply, await store.change(changeWhitelist(user, ip, true)))
  )

  post('/api/del-whitelist-ip', agentClassic.whitelist, async ({ user, ip }, reply) =>
    sendData(reply, await store.change(changeWhitelist(user, ip, false)))
  )

  post('/api/write-user-acl', agentClassic.userAcl, async ({ acl_str }, reply) =>
    sendData(reply, await store.change(writeUserAcl(acl_str)))
  )

  app.get('/api/export/user.acl', async (_request, reply) => {
    const users = await store.read(state =>
      Array.from(state.users, ([user, record]) => ({ user, domains: state.denySets.get(record.denySet) }))
    )
    const text = function* (): Generator<string> {
      for (const { user, domains } of users)
        if (domains !== undefined)
          yield domains
            .toSorted()
            .map(domain => `${user} ${domain}\n`)
            .join('')
    }
    return reply.type('text/plain; charset=utf-8').send(Readable.from(text()))
  })

  post('/api/add-blacklist', agentClassic.blacklist, async ({ domain }, reply) =>
    sendData(reply, await store.change(changeBlacklist(domain, true)))
  )

  post('/api/del-blacklist', agentClassic.blacklist, async ({ domain }, reply) =>
    sendData(reply, await store.change(changeBlacklist(domain, false)))
  )

  app.get('/api/view-blacklist', () => store.read(state => ({ status: 200, data: { blacklist: state.blacklist } })))

  app.get('/api/export/access.log', async (_request, reply) => {
    await control.flushLog()
    return reply.type('text/plain; charset=utf-8').send(Readable.from(control.accessLog.read()))
  })

  app.post('/api/flush-access-log', async () => {
    await control.flushLog()
    await control.accessLog.clear()
    return { status: 200, data: {} }
  })

  app.post('/api/reload', async () => {
    await control.reload()
    return { status: 200, data: { routes: control.routes.state } }
  })
}
