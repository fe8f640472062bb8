import { screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, it, vi } from 'vitest'
import { catalog } from '../../api/routes.ts'
import { columnsFor } from '../../kit/block-art.tsx'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { OccupancyArt } from './occupancy-art.tsx'

const CAPTION = 'Each square is a block of IPs. A brighter square has more leased IPs.'

beforeEach(() => {
  // Without an observer, everything counts as near.
  vi.stubGlobal('IntersectionObserver', undefined)
  Reflect.deleteProperty(window, 'IntersectionObserver')
  return () => vi.unstubAllGlobals()
})

it('draws a square for each block, the stronger the more of it is leased, and says so', async () => {
  answer(catalog.occupancy, { cells: Array.from({ length: 24 }, (_, at) => at % 5) })
  renderAt(<OccupancyArt id={3} caption />)
  const picture = await screen.findByRole('img', { name: new RegExp(CAPTION) })
  expect(screen.getByText(CAPTION)).toBeTruthy()
  const opacities = [...picture.querySelectorAll('rect')].map(one => Number(one.getAttribute('opacity')))
  expect(opacities).toHaveLength(24)
  expect(opacities.slice(0, 5)).toEqual(opacities.slice(0, 5).toSorted((a, b) => a - b))
  expect(new Set(opacities).size).toBe(5)
})

it.each([
  ['too few blocks', () => answer(catalog.occupancy, { cells: [4, 0] })],
  ['a failure', () => answerRefused(catalog.occupancy, 'not_found')]
])('claims nothing of %s', async (_, prepare) => {
  prepare()
  renderAt(<OccupancyArt id={3} caption />)
  await waitFor(() => expect(requestsOf(catalog.occupancy)).toHaveLength(1))
  expect(screen.queryByText(CAPTION)).toBeNull()
  expect(screen.queryByRole('img')).toBeNull()
  const opacities = [...document.querySelectorAll('rect')].map(one => one.getAttribute('opacity'))
  expect(new Set(opacities).size).toBe(1)
})

it.each([
  [240, 24],
  [16, 8],
  [1, 1]
])('%i squares at 2.2 to 1 stand in %i columns, each as full as the others', (count, columns) => {
  expect(columnsFor(count, 2.2)).toBe(columns)
  expect(count % columns).toBe(0)
})
