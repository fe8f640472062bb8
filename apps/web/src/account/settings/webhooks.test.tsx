import { WEBHOOK_FAILURES } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { webhooks } from '../../api/routes.ts'
import en from '../../i18n/account.en.json'
import { endpoint, failed, failedDetail } from '../../kit/webhooks/webhooks.fixture.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer, pageOf } from '../../testing/shapes.ts'
import { Webhooks } from './page.tsx'

const open = (user = customer, search = '') => renderAt(<Webhooks />, { at: `/dashboard/index/setting${search}`, user })

const secretBox = (text: string) => screen.getByText(text).closest('[role=status]')

describe('the webhooks of a customer', () => {
  it('are added with the events that are chosen, and the secret is shown once', async () => {
    answer(webhooks.endpoints, [])
    answerRefused(webhooks.createEndpoint, 'webhook_not_https', {
      data: { errors: { url: 'Enter a URL that starts with https://' } }
    })
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Add endpoint' }))
    const form = within(screen.getByRole('dialog', { name: 'Add endpoint' }))
    await user.click(form.getByRole('button', { name: 'Save' }))
    expect(await form.findByText('Must be a web address, such as https://example.com')).toBeTruthy()
    await user.type(form.getByLabelText('URL'), 'http://hooks.example.com/netlet')
    await user.click(form.getByRole('checkbox', { name: 'Order expired' }))
    await user.click(form.getByRole('button', { name: 'Save' }))
    expect(await form.findByText('Enter a URL that starts with https://')).toBeTruthy()
    answer(webhooks.createEndpoint, { ...endpoint, secret: 'whsec_abc' })
    answer(webhooks.endpoints, [endpoint])
    await user.click(form.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('whsec_abc')).toBeTruthy()
    expect(requestsOf(webhooks.createEndpoint).at(-1)?.body).toMatchObject({
      events: ['order.delivered', 'order.expiring', 'proxies.changed', 'credentials.changed']
    })
    expect(secretBox('whsec_abc')).toBe(document.activeElement)
    await user.click(screen.getByRole('button', { name: 'Done' }))
    expect(screen.queryByText('whsec_abc')).toBeNull()
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Add endpoint' }))
    expect(await screen.findByText(endpoint.url)).toBeTruthy()
  })

  it('get another secret, which has the focus until it is done with', async () => {
    answer(webhooks.endpoints, [endpoint])
    answer(webhooks.rotateSecret, { secret: 'whsec_new', former_secret_until: endpoint.created_at })
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Rotate secret: CI' }))
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await screen.findByText('whsec_new')
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(secretBox('whsec_new')).toBe(document.activeElement)
    await user.click(screen.getByRole('button', { name: 'Done' }))
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Rotate secret: CI' }))
  })

  it('are deleted after a question, and not after NO', async () => {
    answer(webhooks.endpoints, [endpoint])
    answer(webhooks.deleteEndpoint, null)
    const { user } = open()
    for (const word of ['NO', 'YES']) {
      await user.click(await screen.findByRole('button', { name: 'Delete: CI' }))
      const question = within(await screen.findByRole('dialog', { name: 'Delete this endpoint?' }))
      expect(requestsOf(webhooks.deleteEndpoint)).toEqual([])
      await user.click(question.getByRole('button', { name: word }))
      await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    }
    await waitFor(() => expect(requestsOf(webhooks.deleteEndpoint)).toMatchObject([{ params: { id: '4' } }]))
  })

  it('are tried out, and their log says what came back', async () => {
    answer(webhooks.endpoints, [endpoint])
    answer(webhooks.testEndpoint, { delivery_id: 11 })
    answer(webhooks.deliveries, pageOf(failed))
    answer(webhooks.delivery, failedDetail)
    answer(webhooks.resend, null)
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Test: CI' }))
    expect(await screen.findByText('Answered 503')).toBeTruthy()
    expect(requestsOf(webhooks.deliveries).at(-1)?.query).toMatchObject({ endpoint_id: '4' })
    await user.click(screen.getByRole('button', { name: 'View' }))
    expect(await screen.findByText('down for maintenance')).toBeTruthy()
    expect(screen.getByText('The hostname resolves to an IP that is not public')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Resend' }))
    await waitFor(() => expect(requestsOf(webhooks.resend)).toHaveLength(1))
    for (const why of WEBHOOK_FAILURES) expect(`hooks.why.${why}` in en, why).toBe(true)
  })

  it('ask before input is lost, and merge it with what another user saved', async () => {
    answer(webhooks.endpoints, [endpoint])
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Edit: CI' }))
    const form = within(screen.getByRole('dialog', { name: 'Edit endpoint' }))
    const field = (name: string) => form.getByLabelText<HTMLInputElement>(name)
    await user.type(field('Name'), ' of the shop')
    await user.keyboard('{Escape}')
    await user.click(await screen.findByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByText('Discard changes?')).toBeNull())
    const current = { ...endpoint, url: 'https://new.example.com/', description: 'Theirs', version: 'v2' }
    answerRefused(webhooks.updateEndpoint, 'stale', { data: { current, changed: ['url', 'description'] } })
    await user.click(form.getByRole('button', { name: 'Save' }))
    expect(await form.findByText(/changed since you opened it.* Name: someone else saved Theirs\./)).toBeTruthy()
    answer(webhooks.updateEndpoint, current)
    await user.click(form.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requestsOf(webhooks.updateEndpoint).at(-1)?.body).toMatchObject({
      url: current.url,
      description: 'CI of the shop',
      version: 'v2'
    })
  })

  it('say why one was switched off, and cannot be changed by an administrator who looks at them', async () => {
    answer(webhooks.endpoints, [{ ...endpoint, enabled: false, off_reason: 'failing' }])
    open({ ...customer, impersonated_by: 'boss' })
    expect(await screen.findByText('Turned off after days of failures')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Add endpoint' })).toBeNull()
    expect(screen.queryByRole('button', { name: 'Rotate secret: CI' })).toBeNull()
  })
})
