import { screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import { renderAt } from '../../testing/render.tsx'
import { Description, partsOf } from './one-product.tsx'

it('makes a list of lines that begin with a bullet, and keeps the other lines', () => {
  renderAt(<Description text={'Fast.\nSteady.\n• 1 Gbit/s port\n• No cap\n\nFrom one address.'} />)
  const points = within(screen.getByRole('list')).getAllByRole('listitem')
  expect(points.map(one => one.textContent)).toEqual(['1 Gbit/s port', 'No cap'])
  expect([...document.querySelectorAll('p')].map(one => one.textContent)).toEqual([
    'Fast.\nSteady.',
    'From one address.'
  ])
})

it.each([
  ['', []],
  ['\n \r\n', []],
  ['-5 % today', [{ points: false, lines: ['-5 % today'] }]],
  ['- a\r\n* b', [{ points: true, lines: ['- a', '* b'] }]],
  [
    '- a\n\n- b',
    [
      { points: true, lines: ['- a'] },
      { points: true, lines: ['- b'] }
    ]
  ]
])('reads %j', (text, parts) => expect(partsOf(text)).toEqual(parts))
