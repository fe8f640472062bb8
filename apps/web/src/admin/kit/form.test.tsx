import { act, screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { fleet, rewards } from '../../api/routes.ts'
import { isUnsaved } from '../../kit/leaving.ts'
import { answer, answerRefused, hold, holdRefused, requestsOf } from '../../testing/answers.ts'
import { admin, pageOf, server } from '../../testing/shapes.ts'
import GiftCards from '../gift-cards/page.tsx'
import ServersPage from '../servers/page.tsx'
import { card, cardsOf, keepNothing, renderScreen } from './screen.fixture.tsx'

function open(at: string) {
  keepNothing()
  answer(rewards.giftCards, ({ query }) => cardsOf(3, query))
  return renderScreen(<GiftCards />, { at })
}
const field = (name: string) => screen.getByRole<HTMLInputElement>('textbox', { name })
const submit = (name: string) => screen.getByRole('button', { name })

describe('the form of a resource', () => {
  it('says by the rules of the contract what is missing, and asks the server nothing', async () => {
    const { user } = open('/list')
    await user.click(await screen.findByRole('button', { name: 'Add gift card' }))
    await screen.findByRole('dialog', { name: 'Add gift card' })
    await user.click(submit('Add'))
    for (const words of ['Please enter mount', 'Please enter code', 'Please enter point'])
      expect(await screen.findByText(words)).toBeTruthy()
    expect(document.activeElement).toBe(field('Amount'))
    expect(requestsOf(rewards.createGiftCard)).toEqual([])
  })

  it('adds a row, closes and reads the list again', async () => {
    answer(rewards.createGiftCard, card(4))
    const { user, asked } = open('/list?form=new')
    await user.type(await screen.findByRole('textbox', { name: 'Amount' }), '7.5')
    await user.type(field('Code'), 'SUMMER')
    await user.type(field('Coins'), '100')
    const before = requestsOf(rewards.giftCards).length
    await user.click(submit('Add'))
    expect(await screen.findByText('successfully')).toBeTruthy()
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(asked()).toEqual({})
    expect(requestsOf(rewards.createGiftCard)).toMatchObject([{ body: { mount: '7.5', code: 'SUMMER', point: '100' } }])
    await waitFor(() => expect(requestsOf(rewards.giftCards).length).toBeGreaterThan(before))
  })

  it('shows what the server says of a field at that field, and the rest above the form', async () => {
    answerRefused(rewards.createGiftCard, 'invalid', { data: { errors: { code: 'Please enter code' } } })
    const { user } = open('/list?form=new')
    await user.type(await screen.findByRole('textbox', { name: 'Amount' }), '7.5')
    await user.type(field('Code'), 'SUMMER')
    await user.type(field('Coins'), '100')
    await user.click(submit('Add'))
    expect(await screen.findByText('Please enter code')).toBeTruthy()
    expect(field('Code').getAttribute('aria-invalid')).toBe('true')
    expect(screen.queryByRole('alert')).toBeNull()
    answerRefused(rewards.createGiftCard, 'code_taken')
    await user.click(submit('Add'))
    expect((await screen.findByRole('alert')).textContent).toBe('This code already exists')
    // What was typed can still be corrected.
    expect(field('Code').value).toBe('SUMMER')
  })

  it('takes what another user saved in fields not changed here, and keeps the others', async () => {
    const now = card(2, { mount: '6.00', point: 750, code: 'NEW', version: 'newer' })
    answerRefused(rewards.updateGiftCard, 'stale', { data: { current: now, changed: ['mount', 'point', 'code'] } })
    const { user } = open('/list?form=edit.2')
    const amount = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Amount' })
    await user.clear(amount)
    await user.type(amount, '9')
    await user.click(submit('Save'))
    const alert = await screen.findByRole('alert')
    await within(alert).findByText('Coins: was 500, is now 750')
    expect(within(alert).getByText('Code: was CARD-2, is now NEW')).toBeTruthy()
    expect(within(alert).getByText('Amount: you entered 9, but 6.00 was saved')).toBeTruthy()
    expect([amount.value, field('Coins').value, field('Code').value]).toEqual(['9', '750', 'NEW'])
    await user.click(within(alert).getByRole('button', { name: 'Use the saved value: Amount' }))
    expect(amount.value).toBe('6.00')
    expect(within(alert).queryByText(/^Amount/)).toBeNull()
    // No own changes are left, so it closes without a question.
    await user.click(submit('Cancel'))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })

  it('sends the version it was opened with, and goes on from the row that a stale edit is answered with', async () => {
    const now = card(2, { point: 750, version: 'newer' })
    answerRefused(rewards.updateGiftCard, 'stale', { data: { current: now, changed: ['mount', 'point'] } })
    const { user } = open('/list?form=edit.2')
    const amount = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Amount' })
    await user.clear(amount)
    await user.type(amount, '9')
    const reads = requestsOf(rewards.giftCards).length
    await user.click(submit('Save'))
    const alert = await screen.findByRole('alert')
    await within(alert).findByText('Coins: was 500, is now 750')
    expect(
      within(alert).getByText('This has changed since you opened it. Please review it and try again.')
    ).toBeTruthy()
    // What the user typed is not reported as another user's change.
    expect(within(alert).queryByText(/^Amount/)).toBeNull()
    expect(requestsOf(rewards.giftCards)).toHaveLength(reads)
    answer(rewards.updateGiftCard, now)
    await user.click(submit('Save'))
    await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Amount' })).toBeNull())
    expect(requestsOf(rewards.updateGiftCard)).toMatchObject([
      { body: { mount: '9', point: '500', version: 'version-2' } },
      { body: { mount: '9', point: '750', version: 'newer' } }
    ])
  })

  it('keeps what is entered while its call is out, where that is answered as stale', async () => {
    const now = card(2, { point: 750, version: 'newer' })
    const end = holdRefused(rewards.updateGiftCard, 'stale', { data: { current: now, changed: ['point'] } })
    const { user } = open('/list?form=edit.2')
    await user.type(await screen.findByRole('textbox', { name: 'Code' }), 'X')
    await user.click(submit('Save'))
    await user.type(field('Code'), 'Y')
    act(end)
    await screen.findByText('Coins: was 500, is now 750')
    expect([field('Coins').value, field('Code').value]).toEqual(['750', 'CARD-2XY'])
  })

  it('restores its draft after an expired session, but not after it was discarded or for another user', async () => {
    const before = open('/list?form=edit.2')
    await before.user.type(await screen.findByRole('textbox', { name: 'Code' }), 'X')
    await waitFor(() => expect(isUnsaved('with drafts')).toBe(true))
    expect(isUnsaved('without drafts')).toBe(false)
    before.unmount()
    const other = renderScreen(<GiftCards />, { at: '/list?form=edit.2', as: { ...admin, id: admin.id + 1 } })
    expect((await screen.findByRole<HTMLInputElement>('textbox', { name: 'Code' })).value).toBe('CARD-2')
    other.unmount()
    const after = open('/list?form=edit.2')
    await screen.findByRole('textbox', { name: 'Code' })
    await waitFor(() => expect(field('Code').value).toBe('CARD-2X'))
    await after.user.click(submit('Cancel'))
    await after.user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Code' })).toBeNull())
    await after.user.click(screen.getByRole('button', { name: 'Edit: CARD-2' }))
    expect((await screen.findByRole<HTMLInputElement>('textbox', { name: 'Code' })).value).toBe('CARD-2')
  })

  it('keeps no secret over a session that ends', async () => {
    keepNothing()
    answer(fleet.servers, pageOf())
    answer(fleet.upgrades, pageOf())
    answer(fleet.groups, pageOf())
    answer(fleet.server, server)
    const { user } = renderScreen(<ServersPage />, { at: '/list?form=edit.4' })
    await user.type(await screen.findByLabelText(/^Password/), 'a secret')
    await waitFor(() => expect(isUnsaved('without drafts')).toBe(true))
    expect(Object.values(sessionStorage).join()).not.toContain('a secret')
    await user.clear(screen.getByLabelText(/^Password/))
    await user.type(screen.getByRole('textbox', { name: /^Name/ }), '2')
    await waitFor(() => expect(isUnsaved('without drafts')).toBe(false))
    expect(isUnsaved('with drafts')).toBe(true)
  })

  it('is not left with changes in it before that was asked', async () => {
    const { user } = open('/list?form=edit.2')
    const code = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Code' })
    await user.type(code, 'X')
    await user.click(submit('Cancel'))
    const question = await screen.findByRole('dialog', { name: 'Discard changes?' })
    await user.click(within(question).getByRole('button', { name: 'NO' }))
    await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Discard changes?' })).toBeNull())
    expect(code.value).toBe('CARD-2X')
    await user.click(submit('Cancel'))
    await user.click(
      within(await screen.findByRole('dialog', { name: 'Discard changes?' })).getByRole('button', { name: 'YES' })
    )
    await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Code' })).toBeNull())
  })

  it("is not left by the browser's back button either", async () => {
    const { user, asked, goBack } = open('/list')
    await user.click(await screen.findByRole('button', { name: 'Edit: CARD-2' }))
    const code = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Code' })
    await user.type(code, 'X')
    await goBack()
    const question = await screen.findByRole('dialog', { name: 'Discard changes?' })
    await user.click(within(question).getByRole('button', { name: 'NO' }))
    await waitFor(() => expect(asked()).toEqual({ form: 'edit.2' }))
    expect(field('Code').value).toBe('CARD-2X')
    await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Discard changes?' })).toBeNull())
    await goBack()
    await user.click(await screen.findByRole('button', { name: 'YES' }))
    await waitFor(() => expect(asked()).toEqual({}))
    await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Code' })).toBeNull())
  })

  it('is not closed by the answer to another one that was left while its call was out', async () => {
    const arrive = hold(rewards.updateGiftCard)
    const { user, asked } = open('/list?form=edit.2')
    await user.type(await screen.findByRole('textbox', { name: 'Code' }), 'X')
    await user.click(submit('Save'))
    await user.click(submit('Cancel'))
    const question = await screen.findByRole('dialog', { name: 'Discard changes?' })
    await user.click(within(question).getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(asked()).toEqual({}))
    await user.click(await screen.findByRole('button', { name: 'Edit: CARD-3' }))
    await screen.findByRole('dialog', { name: /CARD-3/ })
    await user.type(field('Code'), 'Y')
    act(() => arrive(card(2)))
    expect(await screen.findByText('successfully')).toBeTruthy()
    expect(asked()).toEqual({ form: 'edit.3' })
    expect(field('Code').value).toBe('CARD-3Y')
  })

  it('says that it could not be saved, even if it was closed', async () => {
    const { user, asked } = open('/list?form=edit.2')
    await user.type(await screen.findByRole('textbox', { name: 'Code' }), 'X')
    const end = holdRefused(rewards.updateGiftCard, 'code_taken')
    await user.click(submit('Save'))
    await user.click(submit('Cancel'))
    const question = await screen.findByRole('dialog', { name: 'Discard changes?' })
    await user.click(within(question).getByRole('button', { name: 'YES' }))
    await waitFor(() => expect(asked()).toEqual({}))
    act(end)
    expect(await screen.findByText('This code already exists')).toBeTruthy()
  })

  it('finds the row of an address wherever the list has it', async () => {
    keepNothing()
    answer(rewards.giftCards, ({ query }) =>
      query['id'] === '99' ? { ...cardsOf(1, query), data: [card(99)] } : cardsOf(300, query)
    )
    renderScreen(<GiftCards />, { at: '/list?form=edit.99' })
    expect((await screen.findByRole<HTMLInputElement>('textbox', { name: 'Code' })).value).toBe('CARD-99')
  })

  it('says that the row of an address is gone only where there is none', async () => {
    const { asked } = open('/list?form=edit.99')
    expect(await screen.findByText('This entry is no longer in the list')).toBeTruthy()
    await waitFor(() => expect(asked()).toEqual({}))
    expect(requestsOf(rewards.giftCards).at(-1)?.query).toMatchObject({ id: '99' })
  })

  it('says that the row of an address could not be read, and reads it again when asked', async () => {
    keepNothing()
    answerRefused(rewards.giftCards, 'unavailable')
    const { user, asked } = renderScreen(<GiftCards />, { at: '/list?form=edit.99' })
    const failed = within(await screen.findByRole('dialog', { name: 'Edit' }))
    expect(asked()).toEqual({ form: 'edit.99' })
    answer(rewards.giftCards, ({ query }) =>
      query['id'] ? { ...cardsOf(1, query), data: [card(99)] } : cardsOf(3, query)
    )
    await user.click(failed.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByRole('dialog', { name: 'Edit: CARD-99' })).toBeTruthy()
  })

  it('says that the row is gone where an address names none, and asks the server for none', async () => {
    open('/list?form=edit.first')
    expect(await screen.findByText('This entry is no longer in the list')).toBeTruthy()
    expect(requestsOf(rewards.giftCards).filter(({ query }) => 'id' in query)).toEqual([])
  })
})
