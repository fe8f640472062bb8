import type { AclGroup } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { inventory } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { pageOf, rule as anyRule } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import RuleGroupsPage from './page.tsx'

const ROUTE = '/dashboard/index/AclGroupManager'
const group: AclGroup = {
  id: 3,
  name: 'Basic',
  description: 'For trials',
  acls: [{ id: 1, name: 'Shoes' }],
  version: 'v3'
}
const rule = (id: number, name: string) => ({ ...anyRule, id, name })

function open(at = ROUTE) {
  keepNothing()
  answer(inventory.groups, pageOf(group))
  answer(inventory.rules, pageOf(rule(1, 'Shoes'), rule(2, 'News'), rule(5, 'Cars')))
  return renderScreen(<RuleGroupsPage />, { at, route: ROUTE })
}

const submit = async (name: string) => within(await screen.findByRole('dialog')).getByRole('button', { name })

describe('the rule groups of the console', () => {
  it('are added with rules that are found among up to 500', async () => {
    answer(inventory.createGroup, group)
    const { user } = open(`${ROUTE}?form=new`)
    await user.type(await screen.findByRole('textbox', { name: /^Name/ }), 'New')
    await user.type(screen.getByRole('textbox', { name: /^Description/ }), 'd')
    await user.type(screen.getByRole('searchbox', { name: 'Rules: Search' }), 'car')
    expect(screen.queryByRole('checkbox', { name: 'News' })).toBeNull()
    await user.click(await screen.findByRole('checkbox', { name: 'Cars' }))
    await user.clear(screen.getByRole('searchbox', { name: 'Rules: Search' }))
    await user.click(screen.getByRole('checkbox', { name: 'Shoes' }))
    await user.click(await submit('Add'))
    await waitFor(() => expect(requestsOf(inventory.createGroup)).toHaveLength(1))
    expect(requestsOf(inventory.createGroup)[0]?.body).toMatchObject({ name: 'New', description: 'd', acls: [5, 1] })
    expect(requestsOf(inventory.rules)[0]?.query['limit']).toBe('500')
  })
})
