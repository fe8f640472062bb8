import { screen, waitFor, within } from '@testing-library/react'
import { expect, it, vi } from 'vitest'
import { rewards } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin, pageOf } from '../../testing/shapes.ts'
import { card, keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import GiftCards from './page.tsx'

const open = (as = admin) => {
  keepNothing()
  answer(rewards.giftCards, pageOf())
  return renderScreen(<GiftCards />, { at: '/list?many=true', as })
}

it('several gift cards are added after their number was typed, once for a batch, and their codes saved', async () => {
  const saved: Blob[] = []
  vi.spyOn(URL, 'createObjectURL').mockImplementation(blob => {
    saved.push(blob as Blob)
    return 'blob:codes'
  })
  // The test's browser would navigate away for the download.
  const followed = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined)
  const { user } = open()
  const dialog = within(await screen.findByRole('dialog', { name: 'Add several' }))
  const add = dialog.getByRole('button', { name: 'Add' })
  const field = (name: RegExp) => dialog.getByRole('textbox', { name })
  await user.type(field(/Quantity/), '201')
  await user.type(field(/Amount/), '5')
  await user.type(field(/Coins/), '500')
  await user.click(add)
  expect(await dialog.findByText('Must be a whole number from 1 to 200')).toBeTruthy()
  expect(document.activeElement).toBe(field(/Quantity/))
  await user.clear(field(/Quantity/))
  await user.type(field(/Quantity/), '20')

  const confirmed = async () => {
    await user.click(add)
    const question = within(await screen.findByRole('dialog', { name: 'Add 20 gift cards of $5.00?' }))
    expect(question.getByText(/are worth \$100.00 in total. Customers can get each card for 500 coins/)).toBeTruthy()
    await user.type(question.getByRole('textbox', { name: 'Type 20 to continue' }), '20')
    await user.click(question.getByRole('button', { name: 'YES' }))
  }
  answerRefused(rewards.createGiftCards, 'unavailable')
  await confirmed()
  await dialog.findByRole('alert')
  // Errors of fields that the form lacks show above its buttons.
  answerRefused(rewards.createGiftCards, 'invalid', { data: { errors: { batch: 'It was used before' } } })
  await confirmed()
  expect(await dialog.findByText('It was used before')).toBe(dialog.getByRole('alert'))
  answer(rewards.createGiftCards, [card(1), card(2)])
  await confirmed()
  expect(await dialog.findByText('Added 2 gift cards.')).toBeTruthy()
  expect(document.activeElement).toBe(dialog.getByRole('button', { name: 'Save the codes as CSV' }))
  const [lost, , again] = requestsOf(rewards.createGiftCards).map(({ body }) => body as Record<string, string>)
  expect(again).toMatchObject({ count: '20', mount: '5', point: '500', batch: lost?.['batch'] })
  expect(again?.['batch']).toMatch(/^[0-9a-f]{32}$/)
  expect(await saved[0]?.text()).toBe('id,mount,point,code\r\n1,5.00,500,CARD-1\r\n2,5.00,500,CARD-2\r\n')
  await user.click(dialog.getByRole('button', { name: 'Save the codes as CSV' }))
  expect(saved).toHaveLength(2)
  expect(followed).toHaveBeenCalledTimes(2)
  await waitFor(() => expect(requestsOf(rewards.giftCards).length).toBeGreaterThan(1))
})

it('a role that may not add gift cards sees no button', async () => {
  open({ ...admin, operator_role: 'support' })
  expect(await screen.findByText('No gift cards yet')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Add several' })).toBeNull()
  expect(screen.queryByRole('dialog')).toBeNull()
})
