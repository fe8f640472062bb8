import { act, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { renderAt } from '../../testing/render.tsx'
import PolicyPage from './page.tsx'

const open = async (query: string) => {
  // The texts are a separate chunk.
  const view = await act(() => Promise.resolve(renderAt(<PolicyPage />, { at: `/policy${query}`, route: '/policy' })))
  await screen.findByRole('heading', { level: 1 })
  return view
}
const title = () => screen.getByRole('heading', { level: 1 }).textContent
const marked = () => screen.getByRole('navigation').querySelector('[aria-current="page"]')?.textContent

it.each([
  ['?id=1', 'Privacy Policy'],
  ['?id=2', 'Refund Policy'],
  ['?id=3', 'Terms of Use'],
  ['', 'Terms of Use'],
  ['?id=', 'Terms of Use'],
  ['?id=01', 'Terms of Use'],
  ['?id=privacy', 'Terms of Use'],
  ['?other=1', 'Terms of Use']
])('/policy%s is the %s', async (query, name) => {
  await open(query)
  expect([title(), document.title, marked()]).toEqual([name, `${name} · Netlet`, name])
})

it('the terms say that an address may serve several customers, and until when an order can be renewed', async () => {
  await open('?id=3')
  expect(screen.getByText(/We may lease an address to several customers at once/)).toBeTruthy()
  expect(screen.getByText(/while we hold its addresses for you/)).toBeTruthy()
})
