import type { ApiKey } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import { accounts } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { admin } from '../../testing/shapes.ts'
import ApiTokens from './api-tokens.tsx'

const DAY = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString()
const token: ApiKey = {
  id: 4,
  name: 'deploy',
  hint: 'nlo_ab12',
  scopes: [],
  permissions: ['orders.view', 'orders.change', 'servers.view'],
  created_at: inDays(-10),
  expires_at: inDays(80),
  last_used_at: inDays(-1),
  last_network: '203.0.113.7'
}

function open(kept: ApiKey[] = [], user = admin) {
  answer(accounts.apiKeys, kept)
  return renderAt(<ApiTokens />, { user })
}

it('makes a token with some of the operator’s permissions, and shows it once', async () => {
  answerRefused(accounts.createApiToken, 'too_many_kept', { params: { max: 20 } })
  const { user } = open()
  expect(await screen.findByText('You have no API tokens yet.')).toBeTruthy()
  await user.click(screen.getByRole('button', { name: 'Create token' }))
  const dialog = within(await screen.findByRole('dialog'))
  await user.click(dialog.getByRole('button', { name: 'Create token' }))
  expect(await dialog.findByText('Please enter a name')).toBeTruthy()
  await user.type(dialog.getByLabelText('Name'), 'deploy')
  await user.click(dialog.getByLabelText('View orders'))
  await user.selectOptions(dialog.getByLabelText('Expires'), 'In 30 days')
  await user.click(dialog.getByRole('button', { name: 'Create token' }))
  expect(await dialog.findByText('You can have at most 20. Delete one that you do not use.')).toBeTruthy()
  answer(accounts.createApiToken, { ...token, key: 'nlo_abc' })
  await user.click(dialog.getByRole('button', { name: 'Create token' }))
  expect(await screen.findByText('nlo_abc')).toBeTruthy()
  expect(requestsOf(accounts.createApiToken).at(-1)?.body).toEqual({
    name: 'deploy',
    permissions: ['orders.view'],
    days: 30
  })
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  await user.click(screen.getByRole('button', { name: 'Done' }))
  expect(screen.queryByText('nlo_abc')).toBeNull()
})

it('offers no permission that the role lacks, and none over operators', async () => {
  const { user } = open([], { ...admin, operator_role: 'viewer' })
  await user.click(await screen.findByRole('button', { name: 'Create token' }))
  const dialog = within(await screen.findByRole('dialog'))
  expect(dialog.getByLabelText('View orders')).toBeTruthy()
  for (const name of ['Change web settings', 'Manage operators and their roles', 'View the shop as a customer'])
    expect(dialog.queryByLabelText(name)).toBeNull()
})

it('shows what a token may do, where it was used last, and that it is over', async () => {
  open([token, { ...token, id: 5, name: 'old', expires_at: inDays(-1), last_used_at: null, last_network: null }])
  const [live, old] = await screen.findAllByRole('listitem')
  expect(live?.textContent).toMatch(/3 permissions.*View orders.*Last used yesterday · 203\.0\.113\.7/)
  expect(live?.textContent).not.toMatch(/Expired/)
  const over = (await screen.findByText('old')).closest('li')
  expect(over?.textContent).toMatch(/Expired.*Expired on.*Last used Never/)
  expect(old).toBeTruthy()
})
