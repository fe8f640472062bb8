import { describe, expect, it } from 'vitest'
import { renderAt } from '../../testing/render.tsx'
import { Latency } from './proxy-table.tsx'

describe('the delay of a site', () => {
  it.each([
    [0, 'fast', '6%'],
    [499, 'fast', `${(499 / 1500) * 100}%`],
    [500, 'medium', `${(500 / 1500) * 100}%`],
    [750, 'medium', '50%'],
    [999, 'medium', `${(999 / 1500) * 100}%`],
    [1000, 'slow', `${(1000 / 1500) * 100}%`],
    [1500, 'slow', '100%'],
    [9000, 'slow', '100%']
  ])('of %d ms is %s, with a bar of %s', (ms, level, width) => {
    const { container } = renderAt(<Latency ms={ms} />)
    const shown = container.querySelector('[data-level]')
    expect(shown?.getAttribute('data-level')).toBe(level)
    expect(shown?.textContent).toBe(`${ms} ms ${level}`)
    expect(shown?.querySelector<HTMLElement>('[aria-hidden] > span')?.style.width).toBe(width)
  })

  it('that was not measured has neither colour nor bar', () => {
    const { container } = renderAt(<Latency ms={null} />)
    const shown = container.querySelector('[data-level]')
    expect(shown?.getAttribute('data-level')).toBe('none')
    expect(shown?.textContent).toBe('– not measured')
    expect(shown?.querySelector('[style]')).toBeNull()
  })
})
