import {
  agentChangesQuery,
  type AgentDeleteReply,
  agentPrefixesBody,
  type AgentPrefixesReply,
  type AgentState,
  agentStateQuery,
  agentUserBody,
  agentUserName,
  type AgentUserReply
} from '@netlet/contract/agent'
import { agentProxyTls } from '@netlet/contract/proxy-tls'
import { agentTokenBody } from '@netlet/contract/agent-token'
import type { FastifyInstance } from 'fastify'
import { deleteUser, hashOf, proxiesOf, putPrefixes, putUser } from '../state/commands.ts'
import type { Control } from './control.ts'
import { sendRefusal } from './send-refusal.ts'

type UserPath = { Params: { user: string } }

/** The console's calls. They are idempotent: each states the wanted result. */
export function declarativeRoutes(app: FastifyInstance, control: Control): void {
  const { store, routes, proxyTls } = control

  app.get('/healthz', (_request, reply) => {
    const health = control.health()
    return reply.code(health.status === 'ok' ? 200 : 503).send(health)
  })

  app.get('/api/state', (request, reply) => {
    const query = agentStateQuery.safeParse(request.query)
    if (!query.success) return sendRefusal(reply, { reason: 'badBody', detail: String(query.error.issues[0]?.path[0]) })
    const { after, limit } = query.data
    return store.read((state): AgentState => {
      const names = [...state.users.keys()].filter(name => name > after).toSorted()
      const page = names.slice(0, limit)
      const users = page.flatMap(user => {
        const record = state.users.get(user)
        const quota = record?.limits?.quota
        return record ? [{ user, hash: hashOf(record), generation: record.generation, ...(quota && { quota }) }] : []
      })
      const isFirst = after === ''
      const { owner } = control.owner
      const { state: tls } = proxyTls
      return {
        epoch: store.epoch,
        version: state.version,
        owner,
        prefixes: isFirst ? state.prefixes : [],
        routes: isFirst ? [...routes.state] : [],
        limited: true,
        proxy_tls: tls,
        users,
        ...(page.length < names.length ? { next: page.at(-1) } : {})
      }
    })
  })

  app.put<UserPath & { Querystring: { proxies?: string } }>('/api/users/:user', async (request, reply) => {
    const user = agentUserName.safeParse(request.params.user)
    if (!user.success) return sendRefusal(reply, { reason: 'badUser' })
    const body = agentUserBody.safeParse(request.body)
    if (!body.success) {
      const issue = body.error.issues[0]
      if (issue?.path[0] === 'password') return sendRefusal(reply, { reason: 'badPassword' })
      return sendRefusal(reply, {
        reason: 'badBody',
        detail: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`
      })
    }
    const outcome = await store.change(putUser(user.data, body.data))
    if (!outcome.ok) return sendRefusal(reply, outcome)
    const { record } = outcome.value
    return {
      ...(request.query.proxies === '0' ? {} : { proxies: proxiesOf(user.data, record, control.proxyPort) }),
      hash: hashOf(record),
      deny_set: record.denySet,
      limited: true,
      egress: record.egress ?? 'fixed',
      version: outcome.version
    } satisfies AgentUserReply
  })

  app.delete<UserPath>('/api/users/:user', async (request, reply) => {
    const user = agentUserName.safeParse(request.params.user)
    if (!user.success) return sendRefusal(reply, { reason: 'badUser' })
    const outcome = await store.change(deleteUser(user.data))
    if (!outcome.ok) return sendRefusal(reply, outcome)
    return { deleted: outcome.value.deleted, version: outcome.version } satisfies AgentDeleteReply
  })

  app.put('/api/prefixes', async (request, reply) => {
    const body = agentPrefixesBody.safeParse(request.body)
    if (!body.success) return sendRefusal(reply, { reason: 'badBody' })
    const outcome = await store.change(putPrefixes(body.data.prefixes))
    if (!outcome.ok) return sendRefusal(reply, outcome)
    const { prefixes, removed } = outcome.value
    const loaded = await routes.load(prefixes, removed)
    return { prefixes, routes: [...loaded], version: outcome.version } satisfies AgentPrefixesReply
  })

  app.put('/api/proxy-tls', async (request, reply) => {
    const body = agentProxyTls.safeParse(request.body)
    // The refusal quotes nothing from the body, which may hold a private key.
    if (!body.success) return sendRefusal(reply, { reason: 'badBody' })
    const set = await proxyTls.set(body.data)
    return set.ok ? set.state : sendRefusal(reply, set)
  })

  app.put('/api/token', async (request, reply) => {
    const body = agentTokenBody.safeParse(request.body)
    // Quotes nothing from the body.
    if (!body.success) return sendRefusal(reply, { reason: 'badBody' })
    return (await control.token.replace(body.data.token))
      ? { saved: true }
      : sendRefusal(reply, { reason: 'notDurable' })
  })

  app.get('/api/traffic/changes', async (request, reply) => {
    const query = agentChangesQuery.safeParse(request.query)
    if (!query.success) return sendRefusal(reply, { reason: 'badBody', detail: String(query.error.issues[0]?.path[0]) })
    return (await control.trafficChanges(query.data)) ?? sendRefusal(reply, { reason: 'notDurable' })
  })

  app.get('/api/traffic', async (_request, reply) => {
    const file = await control.openTraffic()
    if (file === null) return sendRefusal(reply, { reason: 'notDurable' })
    return reply.type('application/json; charset=utf-8').send(file.createReadStream())
  })
}
