import type { GeofeedProposal as Proposal } from '@netlet/contract'
import { screen, waitFor } from '@testing-library/react'
import { useState } from 'react'
import { expect, it } from 'vitest'
import { fleet } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { admin } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import { GeofeedProposal } from './geofeed.tsx'

const proposal: Proposal = {
  same: 3,
  kept: 1,
  changes: [
    { kind: 'added', prefix: '192.0.2.0/24', saved: null, proposed: '192.0.2.0/24,US,US-NY,New York,', server: 'ny' },
    {
      kind: 'changed',
      prefix: '2001:db8::/48',
      saved: '2001:db8::/48,FR',
      proposed: '2001:db8::/48,GB,,,',
      server: 'ldn'
    },
    { kind: 'removed', prefix: '198.51.100.0/24', saved: '198.51.100.0/24,JP', proposed: null, server: null }
  ],
  servers: [
    {
      id: 4,
      name: 'ny',
      ranges: 2,
      groups: ['New York'],
      place: null,
      guess: { country: 'US', region: 'US-NY', city: 'New York', postal: '' }
    },
    {
      id: 5,
      name: 'ldn',
      ranges: 1,
      groups: ['UK'],
      place: { country: 'GB', region: '', city: '', postal: '' },
      guess: null
    }
  ]
}

function Editor() {
  const [text, setText] = useState('2001:db8::/48,FR\n198.51.100.0/24,JP\n# end')
  return (
    <>
      <output>{text}</output>
      <GeofeedProposal text={text} onChange={setText} />
    </>
  )
}
const open = (as = admin) => {
  answer(fleet.geofeedProposal, proposal)
  return renderScreen(<Editor />, { as })
}
const text = () => document.querySelector('output')?.textContent

it('is taken into the editor line by line, or whole', async () => {
  const { user } = open()
  expect(await screen.findByText('Different lines: 3; unchanged: 3; left as they are: 1')).toBeTruthy()
  await user.click(screen.getByRole('button', { name: 'Apply the change to 2001:db8::/48' }))
  expect(text()).toBe('2001:db8::/48,GB,,,\n198.51.100.0/24,JP\n# end')
  expect(screen.getByText('In the editor')).toBeTruthy()
  await user.click(screen.getByRole('button', { name: 'Apply all' }))
  expect(text()).toBe('2001:db8::/48,GB,,,\n# end\n192.0.2.0/24,US,US-NY,New York,')
  expect(screen.queryByRole('button', { name: 'Apply all' })).toBeNull()
})

it('goes by the places of servers: what groups suggest counts once it is saved', async () => {
  answer(fleet.savePlaces, null)
  const { user } = open()
  expect(await screen.findByText('Suggested, not saved')).toBeTruthy()
  await user.type(screen.getByRole('textbox', { name: 'City of ldn' }), 'London')
  await user.click(screen.getByRole('button', { name: 'Save locations' }))
  await waitFor(() => expect(requestsOf(fleet.savePlaces)).toHaveLength(1))
  expect(requestsOf(fleet.savePlaces)[0]?.body).toEqual({
    places: [
      { server_id: 4, country: 'US', region: 'US-NY', city: 'New York', postal: '' },
      { server_id: 5, country: 'GB', region: '', city: 'London', postal: '' }
    ]
  })
})

it('is only read by those who may not save the settings', async () => {
  open({ ...admin, operator_role: 'operations' })
  expect(await screen.findByRole('button', { name: 'Save locations' })).toBeTruthy()
  expect(screen.queryByRole('button', { name: /^Take/ })).toBeNull()
})
