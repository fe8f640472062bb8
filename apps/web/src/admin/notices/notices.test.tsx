import { act, screen, within, waitFor } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { NoticeRules, type Notice, type NoticeChannel, type NoticeDetail } from '@netlet/contract'
import { expect, it } from 'vitest'
import { accounts, fleet, inventory, notices } from '../../api/routes.ts'
import { isUnsaved } from '../../kit/leaving.ts'
import { answer, answerRefused, hold, requestsOf } from '../../testing/answers.ts'
import { admin, group as anyGroup, pageOf, rule as anyRule } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import NoticesPage from './page.tsx'

const notice: Notice = {
  id: 4,
  cause: 'server_down',
  subject: '7',
  severity: 'critical',
  title: { en: 'Server fr-1 does not respond', 'zh-CN': '服务器 fr-1 无响应' },
  text: { en: 'It has not answered.\n\nOrders wait.', 'zh-CN': '没有响应。' },
  params: { server: 'fr-1' },
  path: '/dashboard/index/servers?open=7',
  count: 1,
  state: 'open',
  since: '2026-06-15T08:00:00.000Z',
  told_at: '2026-06-15T08:00:00.000Z',
  closed_at: null,
  acknowledged_at: null,
  acknowledged_by: null,
  muted_until: null,
  sends: { waiting: 0, sent: 1, failed: 1, skipped: 0 }
}
const group = (id: number, name: string) => ({ ...anyGroup, id, name })
const rule = (id: number, name: string) => ({ ...anyRule, id, name })
const detail: NoticeDetail = {
  ...notice,
  log: [
    {
      id: 1,
      channel: 'Room',
      kind: 'chat',
      telling: 'opened',
      state: 'failed',
      tries: 11,
      status: 500,
      failure: 'status',
      detail: 'down',
      due_at: '2026-06-15T08:00:00.000Z',
      ended_at: '2026-06-16T08:00:00.000Z',
      mails: []
    }
  ]
}
const channel: NoticeChannel = {
  id: 2,
  name: 'Room',
  kind: 'chat',
  language: 'en',
  host: 'chat.example.com',
  user_ids: [],
  tell_critical: true,
  tell_warning: true,
  tell_info: false,
  digest: true,
  enabled: true,
  last_sent_at: null,
  failing_since: '2026-06-15T08:00:00.000Z',
  failure: 'timeout',
  created_at: '2026-06-01T08:00:00.000Z',
  version: 'v'
}

function open(at: string, shown = channel, prepare = () => {}, as = admin) {
  answer(accounts.preferences, null)
  answer(accounts.users, pageOf())
  answer(notices.notices, pageOf(notice))
  answer(notices.notice, detail)
  answer(notices.channels, pageOf(shown))
  answer(notices.rules, { ...NoticeRules.parse({}), version: 'v1' })
  answer(fleet.groups, pageOf())
  answer(inventory.rules, pageOf())
  prepare()
  return renderScreen(<NoticesPage />, { at: `/dashboard/index/notices${at}`, as })
}

it('a notice says what it is about, leads to its rows, and shows why it could not be told', async () => {
  open('?open=4')
  const drawer = await screen.findByRole('dialog')
  expect(await within(drawer).findByText('Orders wait.')).toBeTruthy()
  const link = within(drawer).getByRole('link', { name: 'Show the affected rows' })
  expect(link.getAttribute('href')).toBe(notice.path)
  expect(within(drawer).getByText('The channel returned 500')).toBeTruthy()
})

it('the rules are saved as a whole, with the version that was shown', async () => {
  answer(notices.saveRules, { ...NoticeRules.parse({ quiet_hours: true }), version: 'v2' })
  open('?tab=rules')
  await userEvent.click(await screen.findByLabelText(/^Quiet hours/))
  await userEvent.selectOptions(screen.getByLabelText('Severity: Low stock'), 'info')
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  const [saved] = requestsOf(notices.saveRules)
  expect(saved?.body).toMatchObject({
    quiet_hours: true,
    causes: { stock: { severity: 'info', threshold: 64, enabled: true } },
    version: 'v1'
  })
  // Undo sends all of them as they were, with the new version.
  await userEvent.click(await screen.findByRole('button', { name: 'Undo' }))
  await waitFor(() =>
    expect(requestsOf(notices.saveRules).at(-1)?.body).toMatchObject({
      quiet_hours: false,
      causes: { stock: { severity: 'warning' } },
      version: 'v2'
    })
  )
})

it('changed rules survive an expired session and another tab, and are merged with what another user saved', async () => {
  const before = open('?tab=rules')
  const severity = () => screen.findByLabelText<HTMLSelectElement>('Severity: Low stock')
  await userEvent.selectOptions(await severity(), 'info')
  expect(isUnsaved('without drafts')).toBe(false)
  before.unmount()
  open('?tab=rules')
  expect((await severity()).value).toBe('info')
  await userEvent.click(screen.getByRole('tab', { name: 'Channels' }))
  await userEvent.click(await screen.findByRole('button', { name: 'NO' }))
  await waitFor(() => expect(screen.queryByText('Discard changes?')).toBeNull())
  const theirs = { ...NoticeRules.parse({ quiet_from: '21:00' }), version: 'v2' }
  answerRefused(notices.saveRules, 'stale', { data: { current: theirs, changed: ['quiet_from'] } })
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  expect(await screen.findByText('Quiet from: was 22:00, is now 21:00')).toBeTruthy()
  answer(notices.saveRules, theirs)
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  await waitFor(() =>
    expect(requestsOf(notices.saveRules).at(-1)?.body).toMatchObject({
      quiet_from: '21:00',
      causes: { stock: { severity: 'info' } },
      version: 'v2'
    })
  )
})

it('what is entered into the rules while they are saved stays', async () => {
  open('?tab=rules')
  await userEvent.click(await screen.findByLabelText(/^Quiet hours/))
  const hour = screen.getByLabelText<HTMLSelectElement>(/^Digest/)
  const arrive = hold(notices.saveRules)
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  await userEvent.selectOptions(hour, '03:00')
  const saved = { ...NoticeRules.parse({ quiet_hours: true }), version: 'v2' }
  answer(notices.rules, saved)
  act(() => arrive(saved))
  expect(await screen.findByText('Rules saved.')).toBeTruthy()
  expect(hour.value).toBe('3')
})

it('figures for single groups and rules are added, changed, taken away, and saved with the rest', async () => {
  const level = { group_id: 1, rule_id: 8, below: 5 }
  answer(notices.saveRules, { ...NoticeRules.parse({}), version: 'v2' })
  open('?tab=rules', channel, () => {
    answer(notices.rules, { ...NoticeRules.parse({ stock: [level] }), version: 'v1' })
    answer(fleet.groups, pageOf(group(1, 'New York'), group(2, 'London')))
    answer(inventory.rules, pageOf(rule(8, 'Nike'), rule(9, 'Steam')))
  })
  const part = within(await screen.findByRole('group', { name: 'Stock thresholds by group and rule' }))
  expect((await part.findByDisplayValue('New York')).tagName).toBe('SELECT')
  await userEvent.click(await part.findByRole('button', { name: 'Add a threshold' }))
  expect(part.getAllByRole('listitem')).toHaveLength(2)
  const [, second] = part.getAllByRole('listitem')
  if (!second) throw new Error('no second figure')
  await userEvent.selectOptions(within(second).getByRole('combobox', { name: 'Server group' }), 'London')
  await userEvent.selectOptions(within(second).getByRole('combobox', { name: 'Access rule' }), 'Steam')
  const below = within(second).getByRole('textbox', { name: 'Notify below (addresses)' })
  // Only digits, and up to the largest figure.
  await userEvent.clear(below)
  await userEvent.type(below, '-1x2')
  expect((below as HTMLInputElement).value).toBe('12')
  await userEvent.click(part.getAllByRole('button', { name: 'Remove this threshold' })[0] as HTMLElement)
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  expect(requestsOf(notices.saveRules).at(-1)?.body).toMatchObject({
    stock: [{ group_id: 2, rule_id: 9, below: 12 }],
    version: 'v1'
  })
})

it('the rules are only looked at by those who may not change them', async () => {
  open(
    '?tab=rules',
    channel,
    () => {
      answer(fleet.groups, pageOf(group(1, 'New York')))
      answer(inventory.rules, pageOf(rule(8, 'Nike')))
    },
    { ...admin, operator_role: 'viewer' }
  )
  const add = await screen.findByRole('button', { name: 'Add a threshold' })
  for (const part of [add, screen.getByLabelText(/^Quiet hours/), screen.getByLabelText(/^Time zone/)])
    expect(part.closest('fieldset[disabled]')).not.toBeNull()
  expect(screen.getByText('Your role does not allow this')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Save' })).toBeNull()
})
