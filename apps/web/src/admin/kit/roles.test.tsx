import type { OperatorRole } from '@netlet/contract/permissions'
import { screen, waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { accounts, fleet, support } from '../../api/routes.ts'
import { answer } from '../../testing/answers.ts'
import { namesOf } from '../../testing/menu-entries.ts'
import { admin, faq, pageOf, server, user as alice } from '../../testing/shapes.ts'
import Faqs from '../faqs/page.tsx'
import Servers from '../servers/page.tsx'
import Users from '../users/page.tsx'
import { keepNothing, renderScreen } from './screen.fixture.tsx'

const ann = { ...alice, id: 7, username: 'ann', is_superuser: true, operator_role: 'owner' as const }
const as = (operator_role: OperatorRole) => ({ ...admin, operator_role })

/** A row's actions: a few as buttons, many in a menu. */
async function offered(user: ReturnType<typeof renderScreen>['user'], name: string): Promise<string[]> {
  const buttons = await screen.findAllByRole('button', { name: new RegExp(`: ${name}$`) })
  const names = buttons.map(button => button.getAttribute('aria-label')?.slice(0, -`: ${name}`.length) ?? '')
  if (!names.includes('Actions')) return names
  await user.click(screen.getByRole('button', { name: `Actions: ${name}` }))
  return namesOf(await screen.findAllByRole('menuitem'))
}

describe('a role is offered what it may do', () => {
  it.each([
    ['owner', ['Details', 'Switch to User', 'View orders', 'Ban', 'Unban', 'Edit', 'Delete']],
    ['support', ['Details', 'Switch to User', 'View orders']],
    ['viewer', ['Details', 'View orders']]
  ] as const)('%s, of a customer', async (role, names) => {
    keepNothing()
    answer(accounts.users, pageOf(alice))
    const { user } = renderScreen(<Users />, { as: as(role) })
    expect(await offered(user, alice.username)).toEqual(names)
  })

  it.each([
    ['owner', true],
    ['operations', false]
  ] as const)('%s, of another administrator', async (role, all) => {
    keepNothing()
    answer(accounts.users, pageOf(ann))
    const { user } = renderScreen(<Users />, { as: as(role) })
    const names = await offered(user, ann.username)
    for (const name of ['Ban', 'Edit', 'Delete']) expect(names.includes(name), name).toBe(all)
  })

  it('viewer, of a server: neither Manage nor Install', async () => {
    keepNothing()
    answer(fleet.servers, pageOf(server))
    answer(fleet.upgrades, pageOf())
    answer(fleet.agentVersion, { version: '0.1.0' })
    const { user } = renderScreen(<Servers />, { as: as('viewer') })
    expect(await offered(user, server.name)).toEqual(['Outages'])
  })

  it('by no key', async () => {
    keepNothing()
    answer(support.faqs, pageOf(faq))
    const { user, asked } = renderScreen(<Faqs />, { as: as('viewer') })
    await screen.findByText('What is a /29?')
    await user.keyboard('j{Enter}')
    expect(asked()).toEqual({})
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  it.each(['new', 'edit.3'])('by no address: %s', async form => {
    keepNothing()
    answer(support.faqs, pageOf(faq))
    const { asked } = renderScreen(<Faqs />, { as: as('viewer'), at: `/list?form=${form}` })
    expect(await screen.findByText('Your role does not allow this')).toBeTruthy()
    await waitFor(() => expect(asked()).toEqual({}))
    expect(screen.queryByRole('dialog')).toBeNull()
  })
})
