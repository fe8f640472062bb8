import { screen, within } from '@testing-library/react'
import { userEvent } from '@testing-library/user-event'
import { NoticeRules, type Notice, type NoticeChannel, type NoticeDetail } from '@netlet/contract'
import { expect, it } from 'vitest'
import { accounts, fleet, inventory, notices } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { pageOf } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import NoticesPage from './page.tsx'

const notice: Notice = {
  id: 4,
  cause: 'server_down',
  subject: '7',
  severity: 'critical',
  title: { en: 'Server fr-1 does not answer', 'zh-CN': '服务器 fr-1 无响应' },
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

function open(at: string, shown = channel) {
  answer(accounts.preferences, null)
  answer(accounts.users, pageOf())
  answer(notices.notices, pageOf(notice))
  answer(notices.notice, detail)
  answer(notices.channels, pageOf(shown))
  answer(notices.rules, { ...NoticeRules.parse({}), version: 'v1' })
  answer(fleet.groups, pageOf())
  answer(inventory.rules, pageOf())
  return renderScreen(<NoticesPage />, { at: `/dashboard/index/notices${at}` })
}

it('a notice says what it is about, leads to its rows, and shows why it could not be told', async () => {
  open('?open=4')
  const drawer = await screen.findByRole('dialog')
  expect(await within(drawer).findByText('Orders wait.')).toBeTruthy()
  const link = within(drawer).getByRole('link', { name: 'Show the rows behind it' })
  expect(link.getAttribute('href')).toBe(notice.path)
  expect(within(drawer).getByText('It answered 500')).toBeTruthy()
})

it('a channel that fails says since when and why, and nothing of its address but the host', async () => {
  open('?tab=channels')
  expect(await screen.findByText('chat.example.com')).toBeTruthy()
  expect(screen.getByText('It did not answer in time')).toBeTruthy()
})

it('the rules are saved as a whole, with the version that was shown', async () => {
  answer(notices.saveRules, { ...NoticeRules.parse({ quiet_hours: true }), version: 'v2' })
  open('?tab=rules')
  await userEvent.click(await screen.findByLabelText(/^Quiet hours/))
  await userEvent.selectOptions(screen.getByLabelText('Severity: Few addresses left'), 'info')
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  const [saved] = requestsOf(notices.saveRules)
  expect(saved?.body).toMatchObject({
    quiet_hours: true,
    causes: { stock: { severity: 'info', threshold: 64, enabled: true } },
    version: 'v1'
  })
})

it('the list says at what time of the day each began', async () => {
  open('')
  await screen.findByText(notice.title.en)
  expect(document.querySelector(`time[datetime="${notice.since}"]`)?.textContent).toMatch(/:00:00/)
})

it('a mail channel none of whose operators takes mail says so', async () => {
  open('?tab=channels', { ...channel, kind: 'mail', host: null, failure: 'blocked_recipients' })
  expect(await screen.findByText('The mail addresses of all its operators take no mail')).toBeTruthy()
})
