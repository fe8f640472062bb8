import { expect, test } from 'vitest'
import type { Execute } from './transport.ts'
import { registerWebhooks } from './webhook-registration.ts'

test('if the platform refuses the topics of disputes, the others are registered, and the refused ones are named as missing', async () => {
  const made: string[] = []
  const userErrors = [{ field: ['topic'], message: 'Invalid topic specified. Is there a missing access scope?' }]
  const execute = (async (_document, variables, shape) => {
    const topic = typeof variables['topic'] === 'string' ? variables['topic'] : ''
    const isRefused = topic.startsWith('DISPUTES')
    if (topic && !isRefused) made.push(topic)
    const data = topic
      ? { webhookSubscriptionCreate: { userErrors: isRefused ? userErrors : [] } }
      : { webhookSubscriptions: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } } }
    return { ok: true, value: shape.parse(data) }
  }) as Execute
  const registered = await registerWebhooks(execute, { callbackBase: 'https://shop.example.test', earlier: [] })
  if (!registered.ok) throw new Error(registered.message)
  const { wanted, present, created } = registered.value
  expect(present).toEqual(made)
  expect(wanted.filter(topic => !present.includes(topic))).toEqual(['DISPUTES_CREATE', 'DISPUTES_UPDATE'])
  expect(created).toBe(made.length)
})
