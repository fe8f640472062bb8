import { screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { renderAt } from '../../testing/render.tsx'
import EmptyPage from './page.tsx'

it('says what the place is for, and leads to the home page', () => {
  renderAt(<EmptyPage />, { at: '/empty', user: null })
  expect(screen.getByText('Nothing here yet')).toBeTruthy()
  expect(screen.getByText(/^This place is kept for what is to come\./)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Home' }).getAttribute('href')).toBe('/')
})
