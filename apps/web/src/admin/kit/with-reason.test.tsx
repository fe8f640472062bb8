import { screen, waitFor } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { Button, Checkbox } from '@mantine/core'
import { renderScreen } from './screen.fixture.tsx'
import { UnavailableHint } from '../../kit/unavailable-hint.tsx'
import { WorkButton } from './words.tsx'

describe('a control that cannot be used now', () => {
  it('is reached by the keyboard, says why in its description and a tooltip, and does nothing', async () => {
    const [pressed, sent] = [vi.fn(), vi.fn((event: { preventDefault: () => void }) => event.preventDefault())]
    const { user } = renderScreen(
      <form onSubmit={sent}>
        <UnavailableHint why="It is empty.">
          <Button onClick={pressed}>Press</Button>
        </UnavailableHint>
        <UnavailableHint why="It is empty.">
          <WorkButton type="submit" working={false}>
            Send
          </WorkButton>
        </UnavailableHint>
        <UnavailableHint why="It is empty.">
          <Checkbox label="Tick" checked={false} onChange={pressed} />
        </UnavailableHint>
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
})
