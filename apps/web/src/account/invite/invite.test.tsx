import { screen } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { accounts } from '../../api/routes.ts'
import { answer, answerRefused } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer, pageOf } from '../../testing/shapes.ts'
import InvitePage from './page.tsx'

const PATH = '/dashboard/index/invite'
const invite = {
  invite_url: 'https://shop.test/createAccount?invite_code=K7Q2M9XA',
  invite_code: 'K7Q2M9XA',
  coin_fraction: 0.75
}
const bob = { id: 41, username: 'bob', created_at: '2026-06-15T08:00:00.000Z' }

beforeEach(() => answer(accounts.inviteCode, invite))

const open = (at = PATH) => {
  const view = renderAt(<InvitePage />, { at, route: PATH, user: customer })
  return { ...view, copied: vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue() }
}

describe('the invite screen', () => {
  it.each([
    ['Copy: Invite URL', invite.invite_url],
    ['Copy: Invite code', invite.invite_code]
  ])('%s', async (name, text) => {
    answer(accounts.inviteLog, pageOf(bob))
    const { user, copied } = open()
    expect(await screen.findByText(text)).toBeTruthy()
    await user.click(screen.getByRole('button', { name }))
    expect(copied.mock.calls).toEqual([[text]])
    expect(await screen.findByText('Successful replication')).toBeTruthy()
  })

  it('shows what invited users earned of the next coin, and how parts of a coin are paid out', async () => {
    answer(accounts.inviteLog, pageOf(bob))
    open()
    expect(await screen.findByText('0.75')).toBeTruthy()
    expect(screen.getByText(/Fractions of a coin add up until they make a whole coin/)).toBeTruthy()
    expect(screen.getAllByRole('button', { name: /^Copy/ })).toHaveLength(2)
  })

  it('says why link and list cannot be read, and reads them again', async () => {
    answerRefused(accounts.inviteCode, 'unavailable')
    answer(accounts.inviteLog, pageOf(bob))
    const { user } = open()
    expect((await screen.findByRole('alert')).textContent).toContain('The service is unavailable right now')
    answer(accounts.inviteCode, invite)
    await user.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByText(invite.invite_code)).toBeTruthy()
  })
})
