import { act, screen, waitFor, within } from '@testing-library/react'
import {
  CHAT_BOT_PROBLEMS,
  SECRET_KEPT,
  SECRET_SETTINGS,
  Settings,
  SETTING_TESTS,
  TEST_OUTCOMES,
  type ChatBotStatus,
  type ShownSettings
} from '@netlet/contract'
import { describe, expect, it } from 'vitest'
import { refresh } from '../../api/query.ts'
import { fleet, mail, settings } from '../../api/routes.ts'
import en from '../../i18n/admin.en.json'
import { isUnsaved } from '../../kit/leaving.ts'
import { answer, answerRefused, hold, requestsOf } from '../../testing/answers.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import { TABS } from './fields.ts'
import WebSettingsPage from './page.tsx'

const saved: ShownSettings = {
  ...Settings.parse({}),
  discord_client_id: '100',
  discord_client_secret: SECRET_KEPT,
  version: 'v1'
}
const bot: ChatBotStatus = {
  state: 'off',
  since: null,
  name: null,
  problem: null,
  detail: null,
  retry_at: null,
  commands_problem: null,
  unreadable_channels: []
}
const AT = '/dashboard/index/WebsiteSettings'

function open(tab = 'discord') {
  answer(settings.config, saved)
  answer(settings.chatBot, bot)
  answer(settings.webhookSecrets, { signed: null, former_until: null })
  answer(settings.saveConfig, { ...saved, version: 'v2' })
  answer(fleet.geofeedProposal, { changes: [], same: 0, kept: 0, servers: [] })
  return renderScreen(<WebSettingsPage />, { at: `${AT}?tab=${tab}` })
}
const sent = () => requestsOf(settings.saveConfig).map(request => request.body)

describe('web settings', () => {
  it('have every setting of the contract once, secrets as secrets, with words for all that is shown', () => {
    const fields = TABS.flatMap(({ groups }) => groups.flatMap(group => group.fields))
    expect(fields.map(({ name }) => name).toSorted()).toEqual(Object.keys(Settings.shape).toSorted())
    const secrets = fields.filter(({ kind }) => kind === 'secret').map(({ name }) => name)
    expect(secrets.toSorted()).toEqual([...SECRET_SETTINGS].toSorted())
    for (const { name } of fields) expect(`webSettings.${name}` in en, name).toBe(true)
    expect(TABS.flatMap(({ tests }) => tests).toSorted()).toEqual([...SETTING_TESTS].toSorted())
    for (const outcome of TEST_OUTCOMES) expect(`webSettings.found.${outcome}` in en, outcome).toBe(true)
  })

  it('send what was changed, over all tabs, with the version, and say so', async () => {
    const { user } = open()
    await user.type(await screen.findByLabelText('Client ID'), '7')
    await user.click(screen.getByRole('tab', { name: 'Email' }))
    await user.selectOptions(await screen.findByLabelText('Email service'), 'Mailgun')
    expect(screen.getByText('Unsaved changes: 2')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Successful operation')).toBeTruthy()
    expect(sent()).toEqual([{ discord_client_id: '1007', email_method: 'mailgun', version: 'v1' }])
  })

  it('take an emptied limit of resets as none, and no empty number of changes', async () => {
    const { user } = open('system')
    const resets = await screen.findByLabelText<HTMLInputElement>('Password resets by customers')
    const changes = screen.getByLabelText<HTMLInputElement>('Address changes by customers')
    expect([resets.value, changes.value]).toEqual(['10', '0'])
    await user.clear(resets)
    await user.clear(changes)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Must be a number from 0 to 1000')).toBeTruthy()
    expect(sent()).toEqual([])
    await user.type(changes, '2')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Successful operation')).toBeTruthy()
    expect(sent()).toEqual([{ customer_changes_per_term: '2', customer_resets_per_term: '', version: 'v1' }])
  })

  it('never show a secret: it is set or not, replaced, cleared on purpose, or kept', async () => {
    const { user } = open()
    const secret = within(await screen.findByRole('group', { name: 'Client secret' }))
    expect(secret.getByText('Set')).toBeTruthy()
    expect(document.body.textContent).not.toContain(SECRET_KEPT)
    await user.click(secret.getByRole('button', { name: 'Clear: Client secret' }))
    expect(screen.getByText('Saving clears it')).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Keep the current value: Client secret' }))
    await user.click(screen.getByRole('button', { name: 'Replace: Client secret' }))
    await user.type(screen.getByLabelText('Client secret'), 'new one')
    answer(settings.config, { ...saved, version: 'v2' })
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(sent()).toEqual([{ discord_client_secret: 'new one', version: 'v1' }]))
    // After the save the secret shows as set, without an open field.
    expect(await screen.findByRole('button', { name: 'Replace: Client secret' })).toBeTruthy()
    expect(screen.queryByLabelText('Client secret', { selector: 'input' })).toBeNull()
  })

  it('clear a secret only where that was asked for', async () => {
    const { user } = open()
    await user.click(await screen.findByRole('button', { name: 'Clear: Client secret' }))
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(sent()).toEqual([{ discord_client_secret: '', version: 'v1' }]))
  })

  it('check fields before they are sent, and lead to the tab of a wrong one', async () => {
    const { user, asked } = open('system')
    const day = await screen.findByLabelText('Decay day')
    await user.clear(day)
    await user.type(day, '31')
    await user.click(screen.getByRole('tab', { name: 'Discord' }))
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Must be a number from 1 to 28')).toBeTruthy()
    expect(asked()).toEqual({ tab: 'system' })
    expect(sent()).toEqual([])
  })

  it('tell what another user saved, and keep what was typed', async () => {
    const { user } = open()
    answerRefused(settings.saveConfig, 'stale', {
      data: {
        current: {
          ...saved,
          discord_redirect_uri: 'https://other.example',
          accept_test_payments: true,
          email_method: 'smtp',
          version: 'v9'
        },
        changed: []
      }
    })
    await user.type(await screen.findByLabelText('Client ID'), '7')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    const alert = await screen.findByRole('alert')
    expect(alert.textContent).toContain('Login redirect URL: was –, is now https://other.example')
    expect(alert.textContent).toContain('Deliver test payments: was NO, is now YES')
    expect(alert.textContent).toContain('Email service: was SendGrid, is now SMTP')
    expect(document.activeElement).toBe(alert)
    answer(settings.saveConfig, { ...saved, version: 'v10' })
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() => expect(sent().at(-1)).toEqual({ discord_client_id: '1007', version: 'v9' }))
  })

  it("keep what is typed during a save, until another user's values are chosen", async () => {
    const { user } = open()
    const id = await screen.findByLabelText<HTMLInputElement>('Client ID')
    const channels = screen.getByLabelText<HTMLInputElement>(/channels/i)
    const save = () => user.click(screen.getByRole('button', { name: 'Save' }))
    await user.type(id, '7')
    const arrive = hold(settings.saveConfig)
    await save()
    await user.type(channels, '9')
    const now = { ...saved, discord_client_id: '1007', version: 'v2' }
    await act(async () => arrive(now))
    expect(await screen.findByText('Unsaved changes: 1')).toBeTruthy()
    expect([id.value, channels.value]).toEqual(['1007', '9'])
    const current = { ...now, discord_bot_channels: '5', version: 'v9' }
    answerRefused(settings.saveConfig, 'stale', { data: { current, changed: [] } })
    await save()
    await user.click(await screen.findByRole('button', { name: /^Use the saved value: .*channels/i }))
    expect(channels.value).toBe('5')
  })

  it('show what the server says of a field', async () => {
    const { user } = open('geofeed')
    const geofeed = "Line 1: 'x' is not an address range"
    answerRefused(settings.saveConfig, 'geofeed_prefix', {
      params: { line: 1, prefix: 'x' },
      data: { errors: { geofeed } }
    })
    const field = await screen.findByLabelText(/^Geofeed/)
    await user.type(field, 'x')
    await user.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText(geofeed)).toBeTruthy()
    expect(field.getAttribute('aria-invalid')).toBe('true')
  })

  it('say how the chat bot is doing, and what is wrong with it', async () => {
    for (const problem of CHAT_BOT_PROBLEMS) expect(`webSettings.chatBot.problem.${problem}` in en, problem).toBe(true)
    open()
    const part = await screen.findByRole('region', { name: 'Chat bot' })
    const refused = { state: 'waiting', problem: 'token_refused', retry_at: '2026-11-21T12:00:00Z' } as const
    answer(settings.chatBot, { ...bot, ...refused, unreadable_channels: ['12', '13'] })
    await act(() => refresh(settings.chatBot))
    expect(await within(part).findByText(/refused the token/)).toBeTruthy()
    expect(part.textContent).toContain('cannot read these channels: 12, 13')
  })

  it('say what DNS has of the sending domain, and what to add where something is missing', async () => {
    const { user } = open('email')
    answer(mail.senderCheck, {
      domain: 'shop.example',
      include: 'sendgrid.net',
      spf: { state: 'wrong', name: 'shop.example', found: 'v=spf1 -all' },
      dkim: { state: 'ok', name: 's1._domainkey.shop.example', found: 'v=DKIM1; p=abc' },
      dmarc: { state: 'missing', name: '_dmarc.shop.example', found: null }
    })
    await user.click(await screen.findByRole('button', { name: 'Check domain' }))
    for (const words of [/contains include:sendgrid.net/, 'v=DKIM1; p=abc', /v=DMARC1; p=quarantine/])
      expect(await screen.findByText(words)).toBeTruthy()
  })

  it('have what was entered again after the session ended, but for secrets', async () => {
    const { user, unmount } = open()
    await user.type(await screen.findByLabelText('Client ID'), '7')
    expect([isUnsaved('with drafts'), isUnsaved('without drafts')]).toEqual([true, false])
    await user.click(screen.getByRole('button', { name: 'Enter: Bot token' }))
    await user.type(screen.getByLabelText('Bot token'), 'a secret')
    expect(isUnsaved('without drafts')).toBe(true)
    unmount()
    expect(Object.values(sessionStorage).join()).not.toContain('a secret')
    open()
    await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>('Client ID').value).toBe('1007'))
    expect(screen.getByText('Unsaved changes: 1')).toBeTruthy()
  })

  it('say which secret signed the last webhook, and end the former one after a question', async () => {
    const { user } = open('shopify')
    const signed = { at: '2026-11-22T10:00:00.000Z', topic: 'orders/paid' }
    answer(settings.webhookSecrets, { signed: { ...signed, by: 'former' }, former_until: '2026-11-23T10:00:00.000Z' })
    const part = within(await screen.findByRole('region', { name: 'Webhook signatures' }))
    await act(() => refresh(settings.webhookSecrets))
    expect(await part.findByText(/\(orders\/paid\) was signed with the previous secret/)).toBeTruthy()
    const ended = { signed: { ...signed, by: 'present' as const }, former_until: null }
    answer(settings.endFormerSecrets, ended)
    await user.click(part.getByRole('button', { name: 'End the previous secret' }))
    expect(requestsOf(settings.endFormerSecrets)).toEqual([])
    answer(settings.webhookSecrets, ended)
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    expect(await part.findByText(/was signed with the current secret/)).toBeTruthy()
    expect(part.queryByRole('button', { name: 'End the previous secret' })).toBeNull()
    expect(requestsOf(settings.endFormerSecrets)).toHaveLength(1)
  })

  it('try out what is saved, and say what happened', async () => {
    const { user } = open('email')
    answer(settings.test, { ok: true, outcome: 'mail_sent', params: { to: 'admin@example.com' }, detail: null })
    await user.click(await screen.findByRole('button', { name: 'Test: Email me' }))
    expect(await screen.findByText(/accepted an email to admin@example.com/)).toBeTruthy()
    answer(settings.test, { ok: false, outcome: 'failed', params: {}, detail: 'SendGrid refused the API key.' })
    await user.click(screen.getByRole('button', { name: 'Test: Email me' }))
    expect(await screen.findByText(/SendGrid refused the API key\./)).toBeTruthy()
    expect(requestsOf(settings.test).map(request => request.body)).toEqual([{ test: 'mail' }, { test: 'mail' }])
  })
})

describe('the running logs', () => {
  const line = (id: number, level: 'INFO' | 'WARN' | 'ERROR', text: string) => ({
    id,
    level,
    at: '2026-06-15T08:00:00.000Z',
    line: `2026-06-15T08:00:00.000Z ${level} ${text}`
  })

  it('show new lines by themselves, asking only for those, until they are paused', async () => {
    answer(settings.logTail, ({ query }) => ({ lines: query['after_id'] === '0' ? [line(1, 'INFO', 'begun')] : [] }))
    const { user } = open('logs')
    expect(await screen.findByText(/INFO begun/)).toBeTruthy()
    answer(settings.logTail, ({ query }) => ({ lines: query['after_id'] === '1' ? [line(2, 'WARN', 'slow')] : [] }))
    expect(await screen.findByText(/WARN slow/)).toBeTruthy()
    expect(screen.getByText(/INFO begun/)).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Pause' }))
    expect(screen.getByRole('button', { name: 'Resume' })).toBeTruthy()
  })

  it('are filtered by level and by words; the task log is another one', async () => {
    answer(settings.logTail, ({ query }) => ({
      lines:
        query['after_id'] !== '0'
          ? []
          : query['source'] === 'task'
            ? [line(3, 'ERROR', 'job failed')]
            : [line(1, 'INFO', 'begun'), line(2, 'WARN', 'slow query'), line(4, 'ERROR', 'broken')]
    }))
    const { user } = open('logs')
    await screen.findByText(/INFO begun/)
    await user.selectOptions(screen.getByLabelText('Level'), 'Warnings and above')
    expect(screen.queryByText(/INFO begun/)).toBeNull()
    await user.type(screen.getByRole('searchbox', { name: 'Search the lines' }), 'QUERY')
    expect(screen.queryByText(/ERROR broken/)).toBeNull()
    expect(screen.getByText(/WARN slow query/)).toBeTruthy()
    await user.clear(screen.getByRole('searchbox', { name: 'Search the lines' }))
    await user.click(screen.getByRole('radio', { name: 'Task log' }))
    expect(await screen.findByText(/job failed/)).toBeTruthy()
  })
})
