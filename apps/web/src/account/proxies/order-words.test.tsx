import { screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { orders } from '../../api/routes.ts'
import { answer } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer, order } from '../../testing/shapes.ts'
import { OrderNote } from './proxy-panel.tsx'
import { OrderLabel } from './order-columns.tsx'

const other = { ...order, id: 6, order_id: '20260614-AAAAAAAA' }
const WORDS = [
  ['note', 'Add note', 'Note', OrderNote],
  ['label', `Add label: ${order.order_id}`, `Label of order ${order.order_id}`, OrderLabel]
] as const

it.each(WORDS)('a %s that is not saved is there again with its order alone', async (_, add, field, Words) => {
  const first = renderAt(<Words order={order} />, { user: customer })
  await first.user.click(screen.getByRole('button', { name: add }))
  await first.user.type(screen.getByRole('textbox', { name: field }), 'For the crawler')
  first.unmount()

  const another = renderAt(<Words order={other} />, { user: customer })
  expect(screen.queryByRole('textbox')).toBeNull()
  another.unmount()

  const again = renderAt(<Words order={order} />, { user: customer })
  expect(screen.getByRole<HTMLInputElement>('textbox', { name: field }).value).toBe('For the crawler')
  // The draft was restored without a click, so the focus stays.
  expect(document.activeElement).toBe(document.body)
  await again.user.click(screen.getByRole('button', { name: 'Cancel' }))
  again.unmount()

  renderAt(<Words order={order} />, { user: customer })
  expect(screen.getByRole('button', { name: add })).toBeTruthy()
})

it.each(WORDS)(
  'a %s that is not saved hides no other one that was saved meanwhile',
  async (name, add, field, Words) => {
    const { user, unmount } = renderAt(<Words order={order} />, { user: customer })
    await user.click(screen.getByRole('button', { name: add }))
    await user.type(screen.getByRole('textbox', { name: field }), 'For the crawler')
    unmount()
    renderAt(<Words order={{ ...order, [name]: 'Saved elsewhere' }} />, { user: customer })
    expect(screen.getByText('Saved elsewhere')).toBeTruthy()
    expect(screen.queryByRole('textbox')).toBeNull()
  }
)

it.each(WORDS)('a %s that was saved is no draft any more', async (_, add, field, Words) => {
  answer(orders.label, order)
  const { user, unmount } = renderAt(<Words order={order} />, { user: customer })
  await user.click(screen.getByRole('button', { name: add }))
  await user.type(screen.getByRole('textbox', { name: field }), 'For the crawler')
  await user.click(screen.getByRole('button', { name: 'Save' }))
  await screen.findByRole('button', { name: add })
  unmount()
  renderAt(<Words order={order} />, { user: customer })
  expect(screen.queryByRole('textbox')).toBeNull()
})
