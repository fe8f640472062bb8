import type { RepairPlan, Server } from '@netlet/contract'
import { screen, waitFor } from '@testing-library/react'
import { expect, it } from 'vitest'
import { fleet } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { busy, choose, dialog, open, ROUTE, say } from './servers.fixture.tsx'

const plan: RepairPlan = {
  digest: 'a'.repeat(64),
  at: '2026-06-15T08:00:00.000Z',
  removed: { count: 1200, users: Array.from({ length: 20 }, (_, n) => `gone${n}`) },
  changed: { count: 1, users: ['other'] },
  added: { count: 0, users: [] },
  ranges: { count: 1, ranges: ['192.0.2.0/24'] }
}
const older: Server = { ...busy, trouble: { code: 'older_console', params: { removed: 1200, changed: 1, ranges: 1 } } }
const foreign: Server = {
  ...busy,
  trouble: { code: 'foreign_console', params: { name: 'https://old.example', owner: 'c0ffee' } }
}

it('approves exactly the plan that the question shows', async () => {
  answer(fleet.repairPlan, plan)
  answer(fleet.approvePlan, { status: 200, output: {} })
  const { user } = open(ROUTE, [older])
  expect(await screen.findByText(/has data that this console does not know/)).toBeTruthy()
  await choose(user, 'Approve the repair plan')
  const question = await dialog('Repair paris with this plan?')
  expect(question.textContent).toContain('1,200 users to remove: gone0, gone1')
  expect(question.textContent).toContain('and 1,188 more')
  expect(question.textContent).toContain('1 user to change: other')
  expect(question.textContent).toContain('1 range to remove: 192.0.2.0/24')
  expect(requestsOf(fleet.approvePlan)).toEqual([])
  expect(screen.getByRole('button', { name: 'YES' })).toHaveProperty('disabled', true)
  await user.type(await screen.findByRole('textbox', { name: /^Type / }), '1200')
  await say(user, 'YES')
  await waitFor(() => expect(requestsOf(fleet.approvePlan)).toHaveLength(1))
  expect(requestsOf(fleet.approvePlan)[0]?.body).toEqual({ digest: plan.digest })
})

it('takes an agent over from the console that is named, and only where one is', async () => {
  answer(fleet.takeOver, { status: 200, output: {} })
  const { user } = open(ROUTE, [foreign])
  expect(await screen.findByText(/belongs to another console: https:\/\/old.example \(c0ffee\)/)).toBeTruthy()
  await choose(user, 'Take over the agent')
  expect((await dialog('Take over the agent of paris?')).textContent).toContain('https://old.example (c0ffee)')
  await say(user, 'YES')
  await waitFor(() => expect(requestsOf(fleet.takeOver)).toHaveLength(1))
  expect(requestsOf(fleet.takeOver)[0]?.body).toEqual({ owner: 'c0ffee' })
})

it('accepts exactly the SSH host key that the question shows, and only where one was refused', async () => {
  const host_key = { known: 'SHA256:was', expected: null, refused: 'SHA256:is' }
  answer(fleet.acceptHostKey, busy)
  const { user } = open(`${ROUTE}?open=4`, [{ ...busy, host_key }])
  const part = await screen.findByRole('region', { name: 'SSH host key' })
  expect(part.textContent).toContain('Expected key: SHA256:was')
  expect(part.textContent).toContain('The machine showed another key, which was refused: SHA256:is')
  await choose(user, 'Accept the SSH host key')
  expect((await dialog('Accept another SSH host key for paris?')).textContent).toContain('shows SHA256:is')
  await say(user, 'YES')
  await waitFor(() => expect(requestsOf(fleet.acceptHostKey)).toHaveLength(1))
  expect(requestsOf(fleet.acceptHostKey)[0]?.body).toEqual({ fingerprint: 'SHA256:is' })
})
