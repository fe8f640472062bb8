import fastify from 'fastify'
import { expect, test } from 'vitest'
import { prepare } from '../kit/http.ts'
import { incomingWebhookRoutes, OPERATORS_WEBHOOK } from './incoming-webhooks.ts'

test('the operators’ webhook accepts what the chat platform accepts, shows it as text, and fails on request', async () => {
  const app = fastify()
  prepare(app)
  incomingWebhookRoutes(app, () => Date.parse('2026-06-15T12:00:00Z'))
  const post = (url: string, payload: object) => app.inject({ method: 'POST', url, payload })
  const message = { content: '[Critical] <b>Server</b>', embeds: [{ title: 'Server', description: 'down', color: 1 }] }
  expect((await post(OPERATORS_WEBHOOK, message)).statusCode).toBe(204)
  expect((await post(OPERATORS_WEBHOOK, {})).statusCode).toBe(400)
  expect((await post(OPERATORS_WEBHOOK, { content: 'x'.repeat(2001) })).statusCode).toBe(400)
  expect((await post('/api/webhooks/1/other', message)).json()).toMatchObject({ message: 'Unknown Webhook' })
  await post('/sandbox/discord/webhook_faults', { kind: 'busy' })
  const busy = await post(OPERATORS_WEBHOOK, message)
  expect([busy.statusCode, busy.headers['retry-after']]).toEqual([429, '2'])
  expect((await app.inject('/chat/operators.json')).json()).toHaveLength(1)
  expect((await app.inject('/chat/operators')).body).toContain('&lt;b&gt;Server&lt;/b&gt;')
  await app.close()
})
