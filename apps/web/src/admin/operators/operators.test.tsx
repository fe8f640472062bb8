import type { ListedUser } from '@netlet/contract'
import { PERMISSIONS } from '@netlet/contract/permissions'
import { screen, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { accounts } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { admin, pageOf, user } from '../../testing/shapes.ts'
import OperatorsPage from './page.tsx'

const owner: ListedUser = {
  ...user,
  id: admin.id,
  username: 'admin',
  is_superuser: true,
  operator_role: 'owner',
  second_factors: 0
}

function open() {
  answer(
    accounts.users,
    pageOf(owner, {
      ...owner,
      second_factors: 1,
      id: 5,
      username: 'helper',
      operator_role: 'support',
      last_login: null
    })
  )
  return renderAt(<OperatorsPage />, { user: admin })
}

describe('the operators', () => {
  it('are listed with their roles, each leading to its page', async () => {
    open()
    const link = await screen.findByRole('link', { name: 'helper' })
    expect(link.getAttribute('href')).toBe('/dashboard/index/users/5')
    const row = link.closest('tr') as HTMLElement
    expect(within(row).getByText('Support')).toBeTruthy()
    expect(within(row).getByText('Never')).toBeTruthy()
    expect(within(row).getByRole('cell', { name: 'Yes' })).toBeTruthy()
    expect(
      within(screen.getByRole('link', { name: 'admin' }).closest('tr') as HTMLElement).getByText('No')
    ).toBeTruthy()
    expect(requestsOf(accounts.users).at(-1)?.query).toEqual({ is_superuser: '1', limit: '200' })
  })

  it('have a table of what each role may do, with every permission', async () => {
    open()
    await screen.findByText('helper')
    const rows = within(screen.getByRole('region', { name: 'Permissions of each role' }))
      .getAllByRole('row')
      .slice(1)
    expect(rows).toHaveLength(Object.keys(PERMISSIONS).length)
    const row = rows.find(one => one.textContent.startsWith('Refund')) as HTMLElement
    expect(
      within(row)
        .getAllByRole('cell')
        .map(cell => cell.textContent)
    ).toEqual(['Yes', 'Yes', 'No', 'No'])
  })
})
