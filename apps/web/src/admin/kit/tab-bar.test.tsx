import { MantineProvider, Tabs } from '@mantine/core'
import { act, fireEvent, render, screen } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { TabBar } from './tab-bar.tsx'

const NAMES = ['one', 'two', 'three', 'four', 'five']
/** Each tab is 100 px wide, and 250 px are to be seen. */
const tabs = (value: string) => (
  <MantineProvider env="test">
    <Tabs value={value}>
      <TabBar value={value}>
        {NAMES.map(name => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </TabBar>
    </Tabs>
  </MantineProvider>
)

let width = 250
beforeEach(() => {
  width = 250
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockImplementation(() => width)
  vi.spyOn(HTMLElement.prototype, 'scrollWidth', 'get').mockReturnValue(500)
  vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(100)
  vi.spyOn(HTMLElement.prototype, 'offsetLeft', 'get').mockImplementation(function left(this: HTMLElement) {
    return Math.max(0, NAMES.indexOf(this.textContent)) * 100
  })
})

const bar = () => screen.getByRole('tablist')
const shades = () => ['before', 'after'].filter(name => name in bar().dataset)

describe('tabs in one line', () => {
  it('bring the chosen one into view, with a part of its neighbours', () => {
    const { rerender } = render(tabs('one'))
    expect(bar().scrollLeft).toBe(0)
    rerender(tabs('four'))
    expect(bar().scrollLeft).toBe(182)
    rerender(tabs('two'))
    expect(bar().scrollLeft).toBe(68)
  })

  it('have a shade on each side where more is', () => {
    render(tabs('one'))
    expect(shades()).toEqual(['after'])
    act(() => {
      bar().scrollLeft = 120
      fireEvent.scroll(bar())
    })
    expect(shades()).toEqual(['before', 'after'])
    act(() => {
      bar().scrollLeft = 250
      fireEvent.scroll(bar())
    })
    expect(shades()).toEqual(['before'])
  })
})
