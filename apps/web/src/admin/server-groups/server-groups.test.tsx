import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { fleet } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { group as anyGroup, pageOf } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import GroupsPage from './page.tsx'

const ROUTE = '/dashboard/index/servergroup'
const group = { ...anyGroup, servers: [{ id: 4, name: 'paris' }] }
const stock = [
  { group: { id: 3, name: 'Europe' }, rule: { id: 1, name: 'nike' }, family: 'ipv4' as const, before: 64, after: 0 }
]

function open(at = ROUTE) {
  keepNothing()
  answer(fleet.groups, pageOf(group))
  answer(fleet.serverNames, pageOf({ id: 4, name: 'paris' }, { id: 5, name: 'rome' }))
  return renderScreen(<GroupsPage />, { at, route: ROUTE })
}
const say = async (user: ReturnType<typeof open>['user'], word: 'YES' | 'NO') =>
  user.click(await screen.findByRole('button', { name: word }))

describe('the server groups of the console', () => {
  it('are added with name, description and servers, from up to 250', async () => {
    answer(fleet.createGroup, group)
    const { user } = open(`${ROUTE}?form=new`)
    await user.type(await screen.findByRole('textbox', { name: /^Name/ }), 'Asia')
    await user.type(screen.getByRole('textbox', { name: /^Description/ }), 'Machines in Asia')
    await user.click(await screen.findByRole('checkbox', { name: 'rome' }))
    await user.click(screen.getByRole('button', { name: 'Add' }))
    await waitFor(() =>
      expect(requestsOf(fleet.createGroup)).toMatchObject([
        { body: { name: 'Asia', description: 'Machines in Asia', servers: [5] } }
      ])
    )
    expect(requestsOf(fleet.serverNames)[0]?.query['limit']).toBe('250')
  })

  it('say what another choice of servers does to plans and stock before it is saved', async () => {
    answer(fleet.planGroup, { added: ['rome'], removed: [], variants: ['Metro / New York'], stock })
    answer(fleet.updateGroup, group)
    const { user } = open(`${ROUTE}?form=edit.3`)
    await screen.findByRole('checkbox', { name: 'rome' })
    await user.click(await screen.findByRole('checkbox', { name: 'rome' }))
    await user.click(screen.getByRole('button', { name: 'Save' }))
    const question = await screen.findByRole('dialog', { name: 'Save Europe?' })
    for (const line of ['Added servers: rome', 'Metro / New York', 'Free addresses in Europe: nike 64 → 0'])
      expect(question.textContent).toContain(line)
    expect(requestsOf(fleet.planGroup)[0]?.body).toEqual({ servers: [4, 5] })
    await say(user, 'YES')
    await waitFor(() =>
      expect(requestsOf(fleet.updateGroup)[0]?.body).toMatchObject({ servers: [4, 5], version: 'g3' })
    )
  })

  it('ask nothing where the servers stay', async () => {
    answer(fleet.updateGroup, group)
    const { user } = open(`${ROUTE}?form=edit.3`)
    await user.type(await screen.findByRole('textbox', { name: /^Description/ }), ' and beyond')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(requestsOf(fleet.updateGroup)).toHaveLength(1))
    expect(requestsOf(fleet.planGroup)).toEqual([])
  })

  it('are not deleted while plans sell from them: these are named, with no YES', async () => {
    answer(fleet.planGroup, { added: [], removed: ['paris'], variants: ['Metro / New York'], stock })
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Delete: Europe' }))
    const told = within(await screen.findByRole('dialog', { name: 'Cannot delete Europe now' }))
    expect(told.getByText(/^Plans that still sell from this group: 1 \(Metro \/ New York\)\./)).toBeTruthy()
    expect(told.queryByRole('button', { name: 'YES' })).toBeNull()
    await user.click(told.getByRole('button', { name: 'Close' }))
    expect(requestsOf(fleet.deleteGroup)).toEqual([])
  })

  it("are deleted after 'Delete ?', which names the plans and the stock", async () => {
    answer(fleet.planGroup, { added: [], removed: ['paris'], variants: [], stock })
    answerRefused(fleet.deleteGroup, 'server_group_sells', { params: { variants: 'Metro / New York' } })
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Delete: Europe' }))
    const question = await screen.findByRole('dialog', { name: 'Confirm deletion' })
    expect(question.textContent).toContain('No plans sell from this group.')
    expect(question.textContent).toContain('Free addresses in Europe: nike 64 → 0')
    await say(user, 'YES')
    expect(await screen.findByText('Variants still sell from this server group: Metro / New York')).toBeTruthy()
  })
})
