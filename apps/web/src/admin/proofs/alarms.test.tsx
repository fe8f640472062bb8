import type { AccessProof } from '@netlet/contract'
import { screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import { fleet } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { admin } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import { ProofAlarms } from './alarms.tsx'

const at = '2026-06-15T12:00:00.000Z'
const proof: AccessProof = {
  id: 3,
  kind: 'revocation',
  cause: 'removed',
  state: 'failed',
  order_id: 7,
  server_id: 4,
  server: 'paris',
  prefixes: ['192.0.2.8/29'],
  tries: [{ at, address: '192.0.2.10', answer: 'accepted', took: 12, seen: null }],
  asked_at: at,
  settled_at: null,
  acknowledged_at: null,
  acknowledged_by: null
}
const open = (as = admin) => renderScreen(<ProofAlarms />, { at: '/x#proofs', route: '/x', as })

it('lists failed tests of credentials, and acknowledges one after a question', async () => {
  answer(fleet.proofs, { proofs: [proof] })
  answer(fleet.acknowledgeProof, { ...proof, acknowledged_at: at, acknowledged_by: 'boss' })
  const { user } = open()
  const region = within(await screen.findByRole('region', { name: 'Proxy mismatches' }))
  expect(await region.findByText('Credentials of an ended lease still work')).toBeTruthy()
  expect(region.getByText('192.0.2.8/29')).toBeTruthy()
  answer(fleet.proofs, { proofs: [] })
  await user.click(region.getByRole('button', { name: 'Acknowledge' }))
  const dialog = within(await screen.findByRole('dialog'))
  expect(requestsOf(fleet.acknowledgeProof)).toEqual([])
  await user.click(dialog.getByRole('button', { name: 'YES' }))
  expect(await screen.findByText('No mismatches')).toBeTruthy()
  expect(requestsOf(fleet.acknowledgeProof)).toMatchObject([{ params: { id: '3' } }])
})

it('asks for nothing where one may not see it', () => {
  open({ ...admin, operator_role: 'viewer' })
  expect(screen.queryByRole('region')).toBeNull()
  expect(requestsOf(fleet.proofs)).toEqual([])
})
