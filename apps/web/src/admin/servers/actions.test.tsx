import type { Server } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { bulk, fleet } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin, pageOf, server } from '../../testing/shapes.ts'
import { busy, choose, dialog, noSettings, open, ROUTE, run, say } from './servers.fixture.tsx'

describe('what is done with a server', () => {
  it.each([
    ['Pause', 'Pause paris?', fleet.pause, 'stops selling', 'Reservations that move: 1 (8 proxies).'],
    [
      'Drain',
      'Drain paris?',
      fleet.drain,
      'They stay, and the console retries every minute: NL-stays, and 2 more',
      'Reservations without room elsewhere: 1 (16 proxies). They stay until they are paid or time out.'
    ],
    [
      'Give up permanently',
      'Give up paris permanently?',
      fleet.giveUp,
      'lose addresses: 3 (24 proxies): NL-stays, and 2 more',
      'Reservations that end: 1 (16 proxies).'
    ]
  ] as const)('%s says before what will happen, in figures', async (entry, title, route, words, reservations) => {
    answer(fleet.pause, { ...server, changes: 1 })
    answer(fleet.drain, null)
    answer(fleet.giveUp, null)
    const { user } = open()
    await choose(user, entry)
    const question = await dialog(title)
    for (const line of [
      words,
      reservations,
      'Active orders: 5 with 40 proxies. Waiting for delivery: 1.',
      'Unpaid reservations: 2.',
      'Free addresses in Europe: nike 56 → 24'
    ])
      expect(question.textContent).toContain(line)
    expect(requestsOf(route)).toEqual([])
    await say(user, 'YES')
    await waitFor(() => expect(requestsOf(route)).toHaveLength(1))
  })

  it('shows the progress of the orders that leave it, and keeps it in the address', async () => {
    answer(fleet.drain, run)
    answer(bulk.run, run)
    answer(bulk.rows, pageOf())
    const { user, asked } = open()
    await choose(user, 'Drain')
    await say(user, 'YES')
    expect(await screen.findByRole('region', { name: 'Bulk action' })).toBeTruthy()
    expect(screen.getByText('3 of 3 done, 1 refused')).toBeTruthy()
    expect(asked()).toEqual({ run: '9' })
  })

  it('has its outages, and takes one that the checks did not see', async () => {
    answer(fleet.addOutage, {
      id: 3,
      server_id: 4,
      started_at: '2026-06-15T08:00:00.000Z',
      ended_at: '2026-06-15T09:30:00.000Z',
      by_hand: true
    })
    const { user } = open()
    await choose(user, 'Add an outage')
    expect(
      await screen.findByText(
        /^When the server responded to its checks but its proxies did not work\. Time zone: .+\.$/
      )
    ).toBeTruthy()
    const from = await screen.findByLabelText(/^From/)
    await user.type(from, '2026-06-15T08:00')
    await user.click(screen.getByRole('button', { name: 'Add an outage' }))
    // Without an end nothing is sent.
    expect(await screen.findByText('Please enter a time such as 2026-03-01T12:00:00Z')).toBeTruthy()
    await user.type(screen.getByLabelText(/^To/), '2026-06-15T09:30')
    await user.click(screen.getByRole('button', { name: 'Add an outage' }))
    await waitFor(() =>
      expect(requestsOf(fleet.addOutage)[0]?.body).toMatchObject({
        started_at: new Date('2026-06-15T08:00').toISOString(),
        ended_at: new Date('2026-06-15T09:30').toISOString()
      })
    )
    await choose(user, 'Outages')
    expect(window.location.pathname + window.location.search).toBe('/dashboard/index/outages?server_id=4')
  })

  it('moves its orders to a server or group that is chosen, as planned', async () => {
    answer(fleet.moveOrders, null)
    const { user } = open(ROUTE, [busy, { ...server, id: 5, name: 'rome' }])
    await choose(user, 'Move orders')
    await user.selectOptions(await screen.findByRole('combobox', { name: 'To server' }), '5')
    await user.click(screen.getByRole('button', { name: 'Move orders' }))
    const question = await dialog('Move the orders of paris?')
    expect(question.textContent).toContain('Orders that move: 2 (16 proxies).')
    expect(requestsOf(fleet.plan)[0]?.query).toEqual({ action: 'move', server_id: '5' })
    await say(user, 'YES')
    await waitFor(() => expect(requestsOf(fleet.moveOrders)[0]?.body).toMatchObject({ server_id: 5 }))
  })

  it('is not offered to be deleted while orders have proxies on it, and says why', async () => {
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Actions: paris' }))
    await user.click(
      await screen.findByRole('menuitem', { name: 'Delete', description: /^Orders have proxies on this server/ })
    )
    expect(requestsOf(fleet.plan)).toEqual([])
    expect(screen.queryByRole('dialog')).toBeNull()
  })

  it("is deleted after 'Delete ?', and says at once what is in the way", async () => {
    answer(fleet.deleteServer, null)
    const { user } = open(ROUTE, [{ ...busy, orders: 0 }])
    await choose(user, 'Delete')
    expect((await dialog('Confirm deletion')).textContent).toContain(
      'Delete ? paris is removed, and other servers can use its ranges'
    )
    await say(user, 'YES')
    await waitFor(() => expect(requestsOf(fleet.deleteServer)).toHaveLength(1))
    answerRefused(fleet.plan, 'server_leased', { params: { count: 1, orders: '#7' } })
    await choose(user, 'Delete')
    expect(await screen.findByText('Addresses of this server are still leased by 1 order: #7')).toBeTruthy()
    expect(screen.queryByRole('dialog', { name: 'Confirm deletion' })).toBeNull()
  })

  it('that was given up can only be taken back', async () => {
    answer(fleet.takeBack, server)
    const { user } = open(ROUTE, [{ ...server, status: 'given_up', sells: false }])
    await user.click(await screen.findByRole('button', { name: 'Actions: paris' }))
    for (const name of ['Pause', 'Resume', 'Drain', 'Move orders', 'Give up permanently'])
      expect(screen.getByRole('menuitem', { name, description: 'The server was given up.' })).toBeTruthy()
    await user.click(screen.getByRole('menuitem', { name: 'Take back' }))
    await say(user, 'YES')
    await waitFor(() => expect(requestsOf(fleet.takeBack)).toHaveLength(1))
  })
})

describe('an installation over SSH', () => {
  const at = '2026-06-15T08:00:00.000Z'
  const step = (name: 'connect' | 'examine' | 'upload', more: object = {}) => ({
    step: name,
    status: 'done' as const,
    message: '',
    output: '',
    started_at: at,
    ended_at: at,
    ...more
  })
  const running: Server = {
    ...server,
    provisioning: {
      status: 'running',
      step: 'examine',
      message: 'Looks at the machine',
      at,
      run_init: true,
      cancelling: false,
      steps: [step('connect'), step('examine', { status: 'running', message: 'Looks at the machine', ended_at: null })]
    }
  }

  it('is asked for from the row with the saved settings that it applies besides, and its steps open', async () => {
    answer(fleet.provision, running)
    const { user, asked } = open()
    answer(fleet.agentSettings, { ...noSettings, settings: { AGENT_WORKERS: '4' }, applied: {} })
    await choose(user, 'Install the agent')
    const question = within(await dialog('Install the agent on paris?'))
    expect(question.getByText(/saved settings that are not applied yet: Workers\./)).toBeTruthy()
    await say(user, 'YES')
    await waitFor(() => expect(asked()).toEqual({ open: '4' }))
    expect(requestsOf(fleet.provision)[0]?.params).toEqual({ id: '4' })
  })

  it('that failed says at which step and why, and is tried again', async () => {
    const message = '192.0.2.4 did not accept the password or key of root.'
    const said = [{ code: 'ssh_refused' as const, params: { host: '192.0.2.4', username: 'root' } }]
    const ended = { step: 'connect' as const, at, run_init: true, cancelling: false, message, said }
    const steps = [step('connect', { status: 'failed', message, said, output: '$ uname -s' })]
    answer(fleet.provision, running)
    const { user } = open(`${ROUTE}?open=4`, [{ ...running, provisioning: { ...ended, status: 'failed', steps } }])
    const list = within(await screen.findByRole('list', { name: 'Steps' }))
    expect(list.getByText(message)).toBeTruthy()
    expect(list.getByText(/uname -s/)).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Try again' }))
    await waitFor(() => expect(requestsOf(fleet.provision)[0]?.body).toEqual({ run_init: 1 }))
  })

  it('keeps the server from being deleted, and says what to do first', async () => {
    const { user } = open(ROUTE, [running])
    await user.click(await screen.findByRole('button', { name: 'Actions: paris' }))
    const description = /^The agent is being installed\. Cancel the installation first\./
    expect(await screen.findByRole('menuitem', { name: 'Delete', description })).toBeTruthy()
  })

  it('is cancelled after a question that says how far it is, and shows what stands there', async () => {
    const at = (more: Partial<NonNullable<Server['provisioning']>>): Server => ({
      ...running,
      provisioning: running.provisioning && { ...running.provisioning, ...more }
    })
    answer(fleet.cancelProvision, at({ cancelling: true }))
    answer(fleet.provision, running)
    const { user } = open(`${ROUTE}?open=4`, [running])
    await user.click(await screen.findByRole('button', { name: 'Cancel the installation' }))
    const question = await dialog('Cancel the installation on paris?')
    expect(question.textContent).toContain('Current step: Examine the machine.')
    await say(user, 'NO')
    expect(requestsOf(fleet.cancelProvision)).toEqual([])
    answer(fleet.server, at({ cancelling: true }))
    await user.click(screen.getByRole('button', { name: 'Cancel the installation' }))
    await say(user, 'YES')
    expect(await screen.findByText('Cancelling')).toBeTruthy()
    expect(requestsOf(fleet.cancelProvision)[0]).toMatchObject({
      params: { id: '4' },
      body: { started_at: running.provisioning?.steps[0]?.started_at }
    })
    expect(screen.queryByRole('button', { name: 'Cancel the installation' })).toBeNull()
    answer(fleet.server, at({ status: 'cancelled', step: 'upload', steps: [step('upload', { status: 'cancelled' })] }))
    expect(
      await screen.findByText(/^Some of the agent’s files are on the machine, but nothing was started/)
    ).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Reinstall' }))
    await waitFor(() => expect(requestsOf(fleet.provision)[0]?.body).toEqual({ run_init: 1 }))
  })

  it('is not cancelled where another one was asked for behind the question', async () => {
    answerRefused(fleet.cancelProvision, 'stale')
    const { user } = open(`${ROUTE}?open=4`, [running])
    await user.click(await screen.findByRole('button', { name: 'Cancel the installation' }))
    await say(user, 'YES')
    expect(
      await screen.findByText('This has changed since you opened it. Please review it and try again.')
    ).toBeTruthy()
  })

  it('is not cancelled by those who may only look', async () => {
    open(`${ROUTE}?open=4`, [running], { ...admin, operator_role: 'viewer' as const })
    await screen.findByRole('list', { name: 'Steps' })
    expect(screen.queryByRole('button', { name: 'Cancel the installation' })).toBeNull()
  })
})
