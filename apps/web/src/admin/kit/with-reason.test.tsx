import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { Button, Checkbox } from '@mantine/core'
import { rewards, settings } from '../../api/routes.ts'
import { setLanguage } from '../../i18n/language.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import GiftCards from '../gift-cards/page.tsx'
import TasksPage from '../tasks/page.tsx'
import { cardsOf, keepNothing, renderScreen } from './screen.fixture.tsx'
import { WithReason } from '../../kit/with-reason.tsx'
import { WorkButton } from './work-button.tsx'

describe('a control that cannot be used now', () => {
  it('is reached by the keyboard, says why in its description and a tooltip, and does nothing', async () => {
    const [pressed, sent] = [vi.fn(), vi.fn((event: { preventDefault: () => void }) => event.preventDefault())]
    const { user } = renderScreen(
      <form onSubmit={sent}>
        <WithReason why="It is empty.">
          <Button onClick={pressed}>Press</Button>
        </WithReason>
        <WithReason why="It is empty.">
          <WorkButton type="submit" working={false}>
            Send
          </WorkButton>
        </WithReason>
        <WithReason why="It is empty.">
          <Checkbox label="Tick" checked={false} onChange={pressed} />
        </WithReason>
      </form>
    )
    const controls = [
      screen.getByRole('button', { name: 'Press', description: 'It is empty.' }),
      screen.getByRole('button', { name: 'Send', description: 'It is empty.' }),
      screen.getByRole<HTMLInputElement>('checkbox', { name: 'Tick', description: 'It is empty.' })
    ]
    for (const control of controls) {
      expect(control.getAttribute('aria-disabled')).toBe('true')
      await user.tab()
      expect(document.activeElement).toBe(control)
      await waitFor(() => expect(screen.getByRole('tooltip').textContent).toBe('It is empty.'))
      await user.keyboard('{Enter} ')
      await user.click(control)
    }
    expect(screen.getByRole<HTMLInputElement>('checkbox').checked).toBe(false)
    expect(pressed).not.toHaveBeenCalled()
    expect(sent).not.toHaveBeenCalled()
  })

  it('is as it was where there is no reason', async () => {
    const pressed = vi.fn()
    const { user } = renderScreen(
      <WithReason why={undefined}>
        <Button onClick={pressed}>Press</Button>
      </WithReason>
    )
    const button = screen.getByRole('button', { name: 'Press' })
    expect(button.getAttribute('aria-disabled')).toBeNull()
    await user.click(button)
    expect(pressed).toHaveBeenCalledTimes(1)
  })

  it('says so of Retry and Discard while no dead letter is selected, in both languages', async () => {
    const letter = {
      id: '7f1b0c9e-0000-4000-8000-000000000001',
      queue: 'send-mail',
      tries: 1,
      error: null,
      payload: {}
    }
    answer(settings.deadLetters, { data: [{ ...letter, failed_at: '2026-06-15T08:00:00.000Z' }], more: false })
    const { user } = renderScreen(<TasksPage />, { at: '/list?tab=dead' })
    for (const name of ['Retry: 0 selected', 'Discard: 0 selected'])
      await user.click(await screen.findByRole('button', { name, description: 'Select jobs first.' }))
    expect(requestsOf(settings.retryDeadLetters)).toEqual([])
    expect(screen.queryByRole('dialog')).toBeNull()
    await setLanguage('zh-CN')
    expect((await screen.findAllByRole('button', { description: '请先选择任务。' })).length).toBe(2)
    await setLanguage('en')
  })

  it('says so of ticks while all that match are selected, and of the last column that is shown', async () => {
    keepNothing()
    answer(rewards.giftCards, ({ query }) => cardsOf(30, query))
    const { user } = renderScreen(<GiftCards />)
    await user.click(await screen.findByRole('checkbox', { name: 'Select this page' }))
    await user.click(screen.getByRole('button', { name: 'Select all 30 that match' }))
    const tick = screen.getByRole<HTMLInputElement>('checkbox', {
      name: 'Select CARD-30',
      description: /^All that match/
    })
    await user.click(tick)
    expect(tick.checked).toBe(true)
    await user.click(screen.getByRole('button', { name: 'Columns' }))
    const columns = within(await screen.findByRole('dialog', { name: 'Columns' }))
    const ticked = () => columns.getAllByRole<HTMLInputElement>('checkbox', { checked: true })
    while (ticked().length > 1) await user.click(ticked()[0] as HTMLElement)
    const [last] = ticked()
    const described = document.getElementById(last?.getAttribute('aria-describedby') ?? '')
    expect(described?.textContent).toBe('One column has to stay.')
    await user.click(last as HTMLElement)
    expect(ticked()).toEqual([last])
  })
})
