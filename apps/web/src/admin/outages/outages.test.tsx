import type { BulkRun, CreditPreview, Incident, OutageEntry, OutageOrder } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { bulk, fleet, status } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin, bulkRun, pageOf, server } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import OutagesPage from './page.tsx'

const ROUTE = '/dashboard/index/outages'
const outage: OutageEntry = {
  id: 3,
  server: { id: server.id, name: server.name },
  started_at: '2026-06-15T08:00:00.000Z',
  ended_at: '2026-06-15T12:30:00.000Z',
  seconds: 16_200,
  by_hand: false,
  announced_at: '2026-06-15T08:10:00.000Z',
  orders: 1200,
  credited: 0,
  state: 'open',
  locations: [{ id: 3, name: 'Paris' }],
  incident: null
}
const lasting: OutageEntry = { ...outage, id: 4, ended_at: null, state: 'lasts', announced_at: null }
const preview: CreditPreview = {
  orders: 1200,
  customers: 300,
  revived: 2,
  ended: 1,
  ended_meanwhile: [],
  credited: 5,
  seconds: 16_200,
  lost: { least: 1800, most: 16_200, total: 17_280_000 },
  mails: 1200
}
const incident: Incident = {
  id: 9,
  title: 'Slow',
  severity: 'major',
  state: 'resolved',
  started_at: outage.started_at,
  ends_at: null,
  resolved_at: outage.ended_at,
  locations: [],
  updates: [],
  created_by: 'admin',
  created_at: outage.started_at,
  outages: [],
  version: 'v1'
}
const orders: OutageOrder[] = [
  { id: 7, order_id: 'NL-first', username: 'alice', part: 'running', seconds: 16_200 },
  { id: 8, order_id: 'NL-second', username: 'bob', part: 'credited', seconds: 1800 }
]
const run: BulkRun = { ...bulkRun, action: 'order.credit_outage', state: 'done', total: 1200, done: 1200 }

function open(at = ROUTE, { rows = [outage], as = admin }: { rows?: OutageEntry[]; as?: typeof admin } = {}) {
  keepNothing()
  answer(fleet.allOutages, pageOf(...rows))
  answer(fleet.serverNames, pageOf({ id: server.id, name: server.name }))
  answer(fleet.outage, rows[0] ?? outage)
  answer(fleet.outageOrders, { data: orders, total: orders.length, limit: 10, offset: 0 })
  answer(fleet.previewCredit, preview)
  return renderScreen(<OutagesPage />, { at, route: ROUTE, as })
}

async function chooseCredit(user: ReturnType<typeof open>['user']) {
  await user.click(await screen.findByRole('button', { name: /^Actions: paris/ }))
  await user.click(await screen.findByRole('menuitem', { name: 'Credit' }))
}

describe('outages', () => {
  it('say beside the list what a credit would do, and which orders they concern', async () => {
    open(`${ROUTE}?open=3`)
    const plan = within(await screen.findByRole('region', { name: 'Effect of a credit' }))
    const lines = await plan.findAllByRole('listitem')
    expect(lines.map(line => line.textContent)).toEqual([
      'Orders that get time back: 1,200, from 300 customers.',
      'Each order runs 30 min to 4.5 hr longer, 200 days in total.',
      'Emails, one to each of these customers: 1,200. Customers who turned these emails off get none.',
      'Expired orders among them that restart on the same addresses: 2.',
      'Orders whose addresses are gone: 1. Their lost time is recorded without an email. You can reopen them to credit it.',
      'Orders already credited for this outage: 5. They get no further credit.',
      'No incident is linked. The emails say that a server did not respond.'
    ])
    const concerned = within(await screen.findByRole('region', { name: 'Affected orders' }))
    expect((await concerned.findByRole('link', { name: 'NL-first' })).getAttribute('href')).toBe(
      '/dashboard/index/order/7'
    )
    expect(concerned.getByText('to be credited')).toBeTruthy()
    expect(concerned.getByText('bob')).toBeTruthy()
  })

  it('are credited after the question, which has the plan of the moment, and show the run', async () => {
    answer(fleet.creditOutage, run)
    answer(bulk.run, run)
    answer(bulk.rows, pageOf())
    const { user, asked } = open()
    await chooseCredit(user)
    const question = await screen.findByRole('dialog', { name: 'Credit the outage of paris?' })
    expect(question.textContent).toContain('Orders that get time back: 1,200, from 300 customers.')
    expect(requestsOf(fleet.creditOutage)).toEqual([])
    // It affects so many orders that their number must be typed.
    expect(screen.getByRole('button', { name: 'YES' })).toHaveProperty('disabled', true)
    await user.type(await screen.findByRole('textbox', { name: /^Type / }), '1200')
    await user.click(screen.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(asked()['run']).toBe('9'))
    expect(requestsOf(fleet.creditOutage)).toHaveLength(1)
    expect(await screen.findByText('Credit an outage')).toBeTruthy()
  })

  it('are not credited after NO, nor where the plan is refused', async () => {
    const { user } = open()
    const choose = () => chooseCredit(user)
    await choose()
    await user.click(await screen.findByRole('button', { name: 'NO' }))
    answerRefused(fleet.previewCredit, 'outage_lasts')
    await choose()
    expect(await screen.findByText('This outage is ongoing. You can credit it after it ends.')).toBeTruthy()
    expect(requestsOf(fleet.creditOutage)).toEqual([])
  })

  it('that last are not credited, but show what each order has lost so far', async () => {
    const { user } = open(`${ROUTE}?open=4`, { rows: [lasting] })
    const plan = within(await screen.findByRole('region', { name: 'Effect of a credit' }))
    expect(plan.getByText('The outage is ongoing. You can credit it after it ends.')).toBeTruthy()
    expect(await screen.findByText('NL-first')).toBeTruthy()
    expect(requestsOf(fleet.previewCredit)).toEqual([])
    await user.keyboard('{Escape}')
    await user.click(await screen.findByRole('button', { name: /^Actions: paris/ }))
    expect(await screen.findByRole('menuitem', { name: 'Credit', description: 'The outage is ongoing.' })).toBeTruthy()
  })

  it('are shown, but not credited, by those who may only look', async () => {
    open(`${ROUTE}?open=3`, { as: { ...admin, operator_role: 'viewer' } })
    await screen.findByText('NL-first')
    await screen.findByText('Orders that get time back: 1,200, from 300 customers.')
    expect(screen.queryByRole('button', { name: 'Credit' })).toBeNull()
    expect(screen.getByRole('button', { name: /^Open the server: paris/, hidden: true })).toBeTruthy()
    expect(screen.queryByRole('button', { name: /^Credit: paris/, hidden: true })).toBeNull()
  })
  it('delete only one that an operator entered and that was not credited, after a question', async () => {
    answer(fleet.removeOutage, null)
    const { user } = open(ROUTE, {
      rows: [
        { ...outage, by_hand: true },
        { ...outage, id: 5, server: { id: 8, name: 'rome' } }
      ]
    })
    const actionsOf = async (name: RegExp) => user.click(await screen.findByRole('button', { name }))
    await actionsOf(/^Actions: rome/)
    const description = 'The health checks recorded this outage.'
    expect(await screen.findByRole('menuitem', { name: 'Delete', description })).toBeTruthy()
    await user.keyboard('{Escape}')
    await actionsOf(/^Actions: paris/)
    await user.click(await screen.findByRole('menuitem', { name: 'Delete' }))
    const question = within(await screen.findByRole('dialog', { name: 'Confirm deletion' }))
    expect(question.getByText(/outage of paris from .*2026.* to .*2026.*\(1200\)/)).toBeTruthy()
    expect(requestsOf(fleet.removeOutage)).toEqual([])
    await user.click(question.getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(fleet.removeOutage)).toMatchObject([{ params: { id: '3' } }]))
    // Undo adds it again.
    const { server, started_at, ended_at } = outage
    answer(fleet.addOutage, { id: 9, server_id: server.id, started_at, ended_at, by_hand: true })
    await user.click(await screen.findByRole('button', { name: 'Undo' }))
    await waitFor(() =>
      expect(requestsOf(fleet.addOutage)).toMatchObject([
        { params: { id: String(server.id) }, body: { started_at, ended_at } }
      ])
    )
  })

  it('become incidents, as they suggest them, and name one that is there', async () => {
    const location = { id: 3, name: 'Paris', state: 'up' as const, up: 100, days: [] }
    const times = { at: '2026-06-15T13:00:00.000Z', from: '2026-03-18' }
    answer(status.page, { ...times, state: 'up', locations: [location], current: [], past: [] })
    answer(status.incidentOfOutage, incident)
    answer(status.nameIncident, null)
    answer(status.incidents, pageOf(incident))
    const { user } = open()
    const choose = async (action: string) => {
      await user.click(await screen.findByRole('button', { name: /^Actions: paris/ }))
      await user.click(await screen.findByRole('menuitem', { name: action }))
      return within(await screen.findByRole('dialog', { name: new RegExp(`^${action}`) }))
    }
    const form = await choose('Create an incident')
    expect(form.getByRole<HTMLInputElement>('textbox', { name: /^Title/ }).value).toBe(
      'Paris: addresses do not respond'
    )
    await form.findByRole('checkbox', { name: 'Paris' })
    await user.click(form.getByRole('button', { name: 'Create an incident' }))
    await waitFor(() => expect(requestsOf(status.incidentOfOutage)).toHaveLength(1))
    expect(requestsOf(status.incidentOfOutage)[0]).toMatchObject({
      params: { id: '3' },
      body: { severity: 'major', locations: [3], state: 'resolved', started_at: outage.started_at }
    })
    const naming = await choose('Link an incident')
    await naming.findByRole('option', { name: 'Slow' })
    await user.selectOptions(naming.getByRole('combobox'), 'Slow')
    await user.click(naming.getByRole('button', { name: 'Link an incident' }))
    await waitFor(() => expect(requestsOf(status.nameIncident)[0]?.body).toEqual({ incident_id: 9 }))
  })
})
