import { screen, waitFor, within } from '@testing-library/react'
import type { DeadLetter, Tasks } from '@netlet/contract'
import { describe, expect, it } from 'vitest'
import { settings } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import TasksPage from './page.tsx'

const tasks: Tasks = {
  schedules: [
    {
      queue: 'expire-orders',
      purpose: 'Ends orders whose time is over.',
      cron: '* * * * *',
      next_run: '2126-06-15T08:01:00.000Z',
      last: { at: '2026-06-15T08:00:00.000Z', result: 'failed', error: 'timeout' },
      asked: false
    }
  ],
  queues: [
    {
      queue: 'send-mail',
      purpose: 'Sends a mail.',
      waiting: 12,
      later: 3,
      active: 4,
      dead: 2,
      oldest: '2026-06-15T08:00:00.000Z',
      finished: 345
    }
  ]
}
const letter = (id: string): DeadLetter => ({
  id,
  queue: 'send-mail',
  failed_at: '2026-06-15T08:00:00.000Z',
  tries: 151,
  error: 'The email service cannot be reached',
  payload: { to: '•••', template: 'code' }
})
const [FIRST, SECOND] = ['7f1b0c9e-0000-4000-8000-000000000001', '7f1b0c9e-0000-4000-8000-000000000002'] as const

function open(tab: string) {
  answer(settings.tasks, tasks)
  answer(settings.deadLetters, { data: [letter(FIRST), letter(SECOND)], more: false })
  return renderScreen(<TasksPage />, { at: `/dashboard/index/tasks?tab=${tab}` })
}

describe('the tasks', () => {
  it('that run by themselves show their next run and last result, and are run now', async () => {
    const { user } = open('schedules')
    expect(await screen.findByText('expire-orders')).toBeTruthy()
    expect(screen.getByText('Expire orders').tagName).toBe('STRONG')
    expect(screen.getByText('Failed')).toBeTruthy()
    expect(screen.getByText('timeout')).toBeTruthy()
    answer(settings.runNow, { asked: true })
    await user.click(screen.getByRole('button', { name: 'Run now: Expire orders' }))
    await waitFor(() => expect(requestsOf(settings.runNow)).toMatchObject([{ body: { queue: 'expire-orders' } }]))
  })

  it('wait in queues, which tell their depth, their oldest, their rate, and lead to their dead letters', async () => {
    const { user, asked } = open('queues')
    expect(await screen.findByText('12')).toBeTruthy()
    expect(screen.getByText('345')).toBeTruthy()
    await user.click(screen.getByRole('link', { name: '2' }))
    expect(asked()).toEqual({ tab: 'dead', queue: 'send-mail' })
    await waitFor(() => expect(requestsOf(settings.deadLetters)[0]?.query).toEqual({ queue: 'send-mail' }))
  })

  it('that failed permanently show error and payload, and are retried singly or together', async () => {
    const { user } = open('dead')
    const list = within(await screen.findByRole('list', { name: 'Failed jobs' }))
    expect(list.getAllByText('The email service cannot be reached')).toHaveLength(2)
    expect(list.getAllByText(/"template": "code"/)).toHaveLength(2)
    answer(settings.retryDeadLetters, { done: 1 })
    await user.click(list.getAllByRole('button', { name: 'Retry: Send emails' })[0] as HTMLElement)
    await waitFor(() => expect(requestsOf(settings.retryDeadLetters)).toMatchObject([{ body: { ids: [FIRST] } }]))
    await user.click(screen.getByRole('checkbox', { name: 'Select all 2' }))
    await user.click(screen.getByRole('button', { name: 'Retry: 2 selected' }))
    await waitFor(() =>
      expect(requestsOf(settings.retryDeadLetters).at(-1)).toMatchObject({ body: { ids: [FIRST, SECOND] } })
    )
  })

  it('that failed permanently are discarded after a question; NO discards nothing', async () => {
    const { user } = open('dead')
    answer(settings.discardDeadLetters, { done: 1 })
    const [button] = await screen.findAllByRole('button', { name: 'Discard: Send emails' })
    await user.click(button as HTMLElement)
    expect(await screen.findByText(/^Discard /)).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'NO' }))
    expect(requestsOf(settings.discardDeadLetters)).toEqual([])
    await user.click(button as HTMLElement)
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(requestsOf(settings.discardDeadLetters)).toMatchObject([{ body: { ids: [FIRST] } }]))
  })
})
