import type { Product } from '@netlet/contract'
import { screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { renderAt } from '../../testing/render.tsx'
import { Flags } from './product-card.tsx'

const product = (...places: string[]) =>
  ({
    variant_options: [{ option_name: 'Location', option_values: places.map(option_value => ({ option_value })) }],
    variants: places.map((place, id) => ({ id, is_active: true, variant_option1: place }))
  }) as Product
const flags = () => screen.queryAllByRole('img').map(flag => flag.getAttribute('alt'))

it('shows each country that a plan is sold in once', () => {
  renderAt(<Flags product={product('New York', 'Tokyo', 'Dallas')} />)
  expect(flags()).toEqual(['United States', 'Japan'])
})

it('counts what there is no room for', () => {
  renderAt(<Flags product={product('New York', 'Tokyo', 'London', 'Paris', 'Berlin', 'Oslo', 'Seoul')} />)
  expect(flags()).toHaveLength(5)
  expect(screen.getByText('+2')).toBeTruthy()
})
