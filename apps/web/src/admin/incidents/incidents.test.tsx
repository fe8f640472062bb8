import type { Incident } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import { status } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { admin, pageOf } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import IncidentsPage from './page.tsx'

const ROUTE = '/dashboard/index/incidents'
const incident: Incident = {
  id: 7,
  title: 'Tokyo does not answer',
  severity: 'critical',
  state: 'identified',
  started_at: '2026-06-15T08:00:00.000Z',
  ends_at: null,
  resolved_at: null,
  locations: [{ id: 3, name: 'Tokyo' }],
  updates: [{ id: 2, state: 'identified', text: 'A router.', at: '2026-06-15T08:30:00.000Z' }],
  created_by: 'admin',
  created_at: '2026-06-15T08:01:00.000Z',
  outages: [{ id: 4, server: 'paris', started_at: '2026-06-15T08:00:00.000Z', ended_at: '2026-06-15T09:00:00.000Z' }],
  version: 'v1'
}

function open(at = ROUTE, as = admin) {
  keepNothing()
  answer(status.incidents, pageOf(incident))
  answer(status.incident, incident)
  answer(status.subscribers, { confirmed: 12 })
  answer(status.page, {
    at: '2026-06-15T09:00:00.000Z',
    from: '2026-03-18',
    state: 'up',
    locations: [{ id: 3, name: 'Tokyo', state: 'up', up: 100, days: [] }],
    current: [],
    past: []
  })
  return renderScreen(<IncidentsPage />, { at, route: ROUTE, as })
}

it('are written with severity, locations and what is known', async () => {
  answer(status.createIncident, incident)
  const { user } = open(`${ROUTE}?form=new`)
  const form = within(await screen.findByRole('dialog', { name: 'Create an incident' }))
  await user.click(form.getByRole('button', { name: 'Add' }))
  expect(await form.findByText('Please enter a title')).toBeTruthy()
  await user.type(form.getByRole('textbox', { name: /^Title/ }), 'Slow')
  await user.selectOptions(form.getByRole('combobox', { name: /^Severity/ }), 'Minor')
  await user.click(await form.findByRole('checkbox', { name: 'Tokyo' }))
  await user.type(form.getByRole('textbox', { name: /^Message/ }), 'We look.')
  await user.click(form.getByRole('button', { name: 'Add' }))
  await waitFor(() => expect(requestsOf(status.createIncident)).toHaveLength(1))
  expect(requestsOf(status.createIncident)[0]?.body).toEqual({
    title: 'Slow',
    severity: 'minor',
    locations: [3],
    started_at: '',
    ends_at: '',
    state: '',
    text: 'We look.'
  })
})

it('go on by updates, which can be corrected; subscribers are counted, outages are named', async () => {
  answer(status.addUpdate, incident)
  answer(status.correctUpdate, incident)
  const { user } = open(`${ROUTE}?open=7`)
  expect(await screen.findByText('Confirmed subscribers: 12')).toBeTruthy()
  const drawer = within(await screen.findByRole('dialog'))
  expect((await drawer.findByRole('link', { name: 'paris' })).getAttribute('href')).toBe(
    '/dashboard/index/outages?open=4'
  )
  await user.click(drawer.getByRole('button', { name: 'Correct' }))
  await user.type(drawer.getByRole('textbox', { name: 'Correct' }), ' It is replaced.')
  await user.click(drawer.getByRole('button', { name: 'Save' }))
  await waitFor(() => expect(requestsOf(status.correctUpdate)).toHaveLength(1))
  expect(requestsOf(status.correctUpdate)[0]).toMatchObject({
    params: { id: '2' },
    body: { text: 'A router. It is replaced.', was: 'A router.' }
  })
  await user.click(drawer.getByRole('button', { name: 'Post an update' }))
  const form = within(await screen.findByRole('dialog', { name: /^Post an update/ }))
  await user.selectOptions(form.getByRole('combobox', { name: /^State/ }), 'Resolved')
  await user.type(form.getByRole('textbox', { name: /^Message/ }), 'All is well.')
  await user.click(form.getByRole('button', { name: 'Post an update' }))
  await waitFor(() => expect(requestsOf(status.addUpdate)).toHaveLength(1))
  expect(requestsOf(status.addUpdate)[0]?.body).toMatchObject({ state: 'resolved', text: 'All is well.' })
})

it('are only read by those who may not write them', async () => {
  open(`${ROUTE}?open=7`, { ...admin, operator_role: 'viewer' })
  const drawer = within(await screen.findByRole('dialog'))
  expect(await drawer.findByText('A router.')).toBeTruthy()
  expect(drawer.queryByRole('button', { name: 'Correct' })).toBeNull()
  expect(screen.queryByRole('button', { name: 'Create an incident' })).toBeNull()
})
