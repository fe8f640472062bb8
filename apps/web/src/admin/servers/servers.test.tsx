import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { queryClient } from '../../api/query.ts'
import { fleet } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { server } from '../../testing/shapes.ts'
import { busy, dialog, open, plan, ROUTE, say } from './servers.fixture.tsx'

describe('the list of servers', () => {
  it('says whether it is connected, what it carries, and how far its agent is', async () => {
    open()
    const row = (await screen.findByText('paris')).closest('tr') as HTMLElement
    expect(within(row).getByText('Yes')).toBeTruthy()
    expect(within(row).getByText('Selling')).toBeTruthy()
    expect(within(row).getByText('24 of 56 addresses')).toBeTruthy()
    expect(within(row).getByText('1,234 connections')).toBeTruthy()
    expect(within(row).getByText('↓ 25 MB/s ↑ 1.5 kB/s')).toBeTruthy()
  })

  it('says what is wrong with one, since when, and which ranges were refused', async () => {
    open(ROUTE, [
      {
        ...server,
        server_status: 0,
        sells: false,
        step: 'unreachable',
        unreachable_since: '2026-06-15T08:00:00.000Z',
        trouble: { code: 'unreachable', params: { message: 'connect ECONNREFUSED' } },
        last_error: 'connect ECONNREFUSED',
        refused_ranges: ['192.0.2.8/29']
      }
    ])
    const row = (await screen.findByText('paris')).closest('tr') as HTMLElement
    expect(row.hasAttribute('data-problem')).toBe(true)
    for (const words of ['No', 'Out of stock: unreachable', 'The health check failed: connect ECONNREFUSED'])
      expect(within(row).getByText(words)).toBeTruthy()
    expect(within(row).getByText('Refused and not sold: 192.0.2.8/29')).toBeTruthy()
  })
})

it('a server that is being installed has no trouble, where nothing answers yet', async () => {
  const at = '2026-06-15T08:00:00.000Z'
  const provisioning = {
    status: 'running',
    step: 'upload',
    message: '',
    at,
    run_init: true,
    cancelling: false
  } as const
  open(ROUTE, [
    {
      ...server,
      server_status: 0,
      failing_since: at,
      trouble: { code: 'unreachable', params: { message: 'connect ECONNREFUSED' } },
      provisioning: { ...provisioning, steps: [] }
    }
  ])
  expect(await screen.findByText(/^Installing/)).toBeTruthy()
  expect(screen.queryByText(/ECONNREFUSED/)).toBeNull()
})

it('a server shows at most five ranges, and all of them in a dialog that the address names', async () => {
  const { user, asked } = open()
  const tags = within(await screen.findByRole('list', { name: 'CIDRs' }))
  expect(tags.getAllByText(/\/29$/)).toHaveLength(5)
  await user.click(tags.getByRole('button', { name: '2 more: all ranges of paris' }))
  expect(within(await dialog('Ranges of paris: 7')).getAllByText(/\/29/)).toHaveLength(7)
  expect(asked()).toEqual({ ranges: '4' })
})

it('what an agent tells of itself that cannot be right is not taken, and its last report says so', async () => {
  const agent = busy.agent && { ...busy.agent, refused_since: '2026-06-15T08:05:00.000Z' }
  open(`${ROUTE}?open=4`, [{ ...busy, agent }])
  expect(await screen.findByText(/^The agent reports implausible values, which the console ignores:/)).toBeTruthy()
})

describe('the certificate of a server', () => {
  it('is shown by its fingerprint, and is said to be missing', async () => {
    const { unmount } = open(`${ROUTE}?open=4`)
    expect(await screen.findByText('SHA-256 5A:0B:11')).toBeTruthy()
    unmount()
    queryClient.clear()
    open(`${ROUTE}?open=4`, [{ ...server, has_certificate: false, certificate: null }])
    expect(await screen.findByText('None: no TLS')).toBeTruthy()
  })

  it('is said to have ended', async () => {
    open(`${ROUTE}?open=4`, [{ ...server, certificate: { fingerprint: '5A', ends_at: '2020-01-02T12:00:00.000Z' } }])
    expect(await screen.findByText(/^Expired on Jan 2, 2020/)).toBeTruthy()
  })
})

describe('the form of a server', () => {
  it('sends ranges one a line, a password that is never shown, and the switches as 1 and 0', async () => {
    answer(fleet.createServer, server)
    const { user } = open(`${ROUTE}?form=new`)
    await user.type(await screen.findByRole('textbox', { name: /^Name/ }), 'rome')
    await user.type(screen.getByRole('textbox', { name: /^IP/ }), '192.0.2.9')
    await user.type(screen.getByRole('textbox', { name: /^CIDR/ }), '192.0.2.0/29{Enter}192.0.2.8/29')
    const password = screen.getByLabelText<HTMLInputElement>(/^Password/)
    expect(password.type).toBe('password')
    await user.type(password, 'secret')
    await user.click(screen.getByRole('switch', { name: /run_init/ }))
    await user.click(screen.getByRole('button', { name: 'Add' }))
    await waitFor(() => expect(requestsOf(fleet.createServer)).toHaveLength(1))
    expect(requestsOf(fleet.createServer)[0]?.body).toMatchObject({
      name: 'rome',
      ip: '192.0.2.9',
      cidr: '192.0.2.0/29\n192.0.2.8/29',
      password: 'secret',
      run_init: 1,
      update_cidr: 0
    })
  })

  it('says what a change of ranges does before it is saved, and saves nothing after NO', async () => {
    answer(fleet.planEdit, { added: [], removed: ['192.0.2.8/29'], agent: false, proxy_port: null, stock: plan.stock })
    answer(fleet.updateServer, server)
    const { user } = open(`${ROUTE}?form=edit.4`)
    const field = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: /^CIDR/ })
    expect(field.value.split('\n')).toHaveLength(7)
    expect(screen.getByLabelText<HTMLInputElement>(/^Password/).value).toBe('')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    const question = await dialog('Save paris?')
    expect(question.textContent).toContain('Removed ranges: 192.0.2.8/29')
    expect(question.textContent).toContain('Free addresses in Europe: nike 56 → 24')
    expect(requestsOf(fleet.planEdit)[0]?.body).toMatchObject({ version: 'v4' })
    await say(user, 'NO')
    expect(requestsOf(fleet.updateServer)).toEqual([])
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await say(user, 'YES')
    await waitFor(() => expect(requestsOf(fleet.updateServer)).toHaveLength(1))
    expect(requestsOf(fleet.updateServer)[0]?.body).toMatchObject({ version: 'v4', name: 'paris' })
  })

  it('sends a certificate that is pasted, and nothing that is no PEM', async () => {
    answer(fleet.updateServer, server)
    answer(fleet.planEdit, { added: [], removed: [], agent: false, proxy_port: null, stock: [] })
    const { user } = open(`${ROUTE}?form=edit.4`)
    const field = await screen.findByLabelText<HTMLTextAreaElement>('Agent certificate')
    expect(field.value).toBe('')
    await user.type(field, 'no certificate')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Must be a certificate in PEM')).toBeTruthy()
    expect(requestsOf(fleet.updateServer)).toEqual([])
    const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----'
    await user.clear(field)
    await user.click(field)
    await user.paste(pem)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(requestsOf(fleet.updateServer)).toHaveLength(1))
    expect(requestsOf(fleet.updateServer)[0]?.body).toMatchObject({ agent_certificate: pem, forget_certificate: 0 })
  })

  it("keeps the agent's certificate where none is pasted, and forgets it where asked", async () => {
    answer(fleet.updateServer, server)
    answer(fleet.planEdit, { added: [], removed: [], agent: true, proxy_port: null, stock: [] })
    const { user } = open(`${ROUTE}?form=edit.4`)
    await user.click(await screen.findByRole('switch', { name: /Remove the agent certificate/ }))
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(fleet.updateServer)).toHaveLength(1))
    const body = requestsOf(fleet.updateServer)[0]?.body
    expect(body).toMatchObject({ forget_certificate: 1 })
    expect(body).not.toHaveProperty('agent_certificate')
  })

  it.each([
    [false, 'The agent serves 3128 until you reinstall it.'],
    [true, 'The agent is reinstalled with the new port.']
  ])(
    'says what another proxy port does to the orders there, where it installs the agent: %s',
    async (installs, words) => {
      const proxy_port = { from: 3128, to: 8080, orders: 3, installs }
      answer(fleet.planEdit, { added: [], removed: [], agent: false, proxy_port, stock: [] })
      const { user } = open(`${ROUTE}?form=edit.4`)
      await user.click(await screen.findByRole('button', { name: 'Save' }))
      const question = await dialog('Save paris?')
      expect(question.textContent).toContain('The proxy port changes from 3128 to 8080. Orders that use it: 3.')
      expect(question.textContent).toContain(words)
      expect(requestsOf(fleet.updateServer)).toEqual([])
    }
  )

  it('shows at its field what the plan refuses', async () => {
    answerRefused(fleet.planEdit, 'name_taken', { data: { errors: { name: 'This name is taken' } } })
    const { user } = open(`${ROUTE}?form=edit.4`)
    await user.click(await screen.findByRole('button', { name: 'Save' }))
    const field = await screen.findByRole('textbox', { name: /^Name/ })
    await waitFor(() => expect(field.getAttribute('aria-invalid')).toBe('true'))
    expect(requestsOf(fleet.updateServer)).toEqual([])
  })

  it('asks nothing where neither ranges nor agent change', async () => {
    answer(fleet.planEdit, { added: [], removed: [], agent: false, proxy_port: null, stock: [] })
    answer(fleet.updateServer, server)
    const { user } = open(`${ROUTE}?form=edit.4`)
    await user.click(await screen.findByRole('button', { name: 'Save' }))
    await waitFor(() => expect(requestsOf(fleet.updateServer)).toHaveLength(1))
  })

  it('shows at the secrets that a new address asks for them again', async () => {
    const again =
      'The address has changed. Please enter this again. The shop does not send stored secrets to another machine.'
    answerRefused(fleet.planEdit, 'secret_of_address', { data: { errors: { password: again, agent_token: again } } })
    const { user } = open(`${ROUTE}?form=edit.4`)
    const address = await screen.findByRole('textbox', { name: /^IP/ })
    await user.clear(address)
    await user.type(address, '192.0.2.77')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findAllByText(again)).toHaveLength(2)
    for (const label of [/^Password/, /^Agent token/])
      expect(screen.getByLabelText(label).getAttribute('aria-invalid')).toBe('true')
    expect(document.activeElement).toBe(screen.getByLabelText(/^Password/))
    expect(requestsOf(fleet.updateServer)).toEqual([])
  })
})

describe('a server that was edited', () => {
  const edit = async (label: RegExp, text: string) => {
    const { user } = open(`${ROUTE}?form=edit.${busy.id}`)
    answer(fleet.updateServer, { ...busy, version: 'v9' })
    answer(fleet.planEdit, { added: [], removed: [], agent: false, proxy_port: null, stock: [] })
    const field = await screen.findByLabelText(label)
    await user.clear(field)
    await user.type(field, text)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(requestsOf(fleet.updateServer)).toHaveLength(1))
    return user
  }

  it('gets its former description back by Undo, and keeps its password', async () => {
    const user = await edit(/^Description/, 'Rack 7')
    await user.click(await screen.findByRole('button', { name: 'Undo' }))
    expect(await screen.findByText('Undone')).toBeTruthy()
    expect(requestsOf(fleet.updateServer).at(-1)?.body).toMatchObject({
      description: busy.description,
      password: '',
      version: 'v9'
    })
  })

  it.each([
    ['another password', /^Password/, 'other'],
    ['another address', /^IP/, '192.0.2.99']
  ])('with %s offers no Undo', async (_what, label, text) => {
    await edit(label, text)
    expect(await screen.findByText('successfully')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull()
  })
})
