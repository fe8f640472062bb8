import { screen, waitFor } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { accounts } from '../../api/routes.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer } from '../../testing/shapes.ts'
import SignUpPage from './page.tsx'

const CODE_ID = '0197f0a0-0000-7000-8000-000000000001'

const open = (at = '/createAccount') => renderAt(<SignUpPage />, { at, route: '/createAccount' })
const text = (name: string | RegExp) => screen.getByRole('textbox', { name })
const secret = (name: string | RegExp) => screen.getByLabelText(name, { selector: 'input' })
const submit = () => screen.getByRole('button', { name: 'sign up' })
const describedBy = (field: HTMLElement) =>
  (field.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .map(id => document.getElementById(id)?.textContent)
    .join()

async function fillIn({ user }: ReturnType<typeof open>) {
  answer(accounts.emailValidate, { email_code_id: CODE_ID })
  await user.type(text('Username'), 'Alice1')
  await user.type(text('Email'), 'a@example.com')
  await user.click(screen.getByRole('button', { name: 'send code' }))
  await screen.findByRole('button', { name: /^\d+ s/ })
  await user.type(text('Verification code'), '123456')
  await user.type(text(/invite/i), 'nobody')
}
async function typePasswords({ user }: ReturnType<typeof open>) {
  await user.type(secret('Password'), 'Harbour#2026')
  await user.type(secret(/confirm/i), 'Harbour#2026')
}

/** The form's own alert; toasts are alerts too. */
const alertOf = () => submit().closest('form')?.querySelector('[role=alert]') ?? null

beforeEach(() => sessionStorage.clear())

describe('the sign-up form', () => {
  it('says at each field what is missing, and of the form that it is not complete', async () => {
    const { user } = open()
    await user.click(submit())
    expect(alertOf()?.textContent).toBe('Please complete the form first!')
    const wanted = [
      [text('Username'), 'Please input username'],
      [text('Email'), 'Please input email'],
      [text('Verification code'), 'Please input code'],
      [secret('Password'), 'Enter a password'],
      [secret(/confirm/i), 'Please input re-password']
    ] as const
    for (const [field, sentence] of wanted) expect(describedBy(field)).toContain(sentence)
    expect(document.activeElement).toBe(text('Username'))
    await user.type(secret('Password'), 'weak')
    await user.type(secret(/confirm/i), 'other')
    await user.click(submit())
    expect(describedBy(secret(/confirm/i))).toContain('Password not consistent')
    expect(describedBy(text('Username'))).toContain('Please input username')
  })

  it('shows how hard the password is to guess, and that it must not contain the name', async () => {
    const { user } = open()
    await user.type(text('Username'), 'Alice1')
    await user.type(secret('Password'), 'Password@123')
    expect(await screen.findByText('Too easy to guess')).toBeTruthy()
    await user.clear(secret('Password'))
    await user.type(secret('Password'), 'Blue7Whale-Tango')
    expect(await screen.findByText('Very hard to guess')).toBeTruthy()
    await user.clear(secret('Password'))
    await user.type(secret('Password'), 'Whale-Tango-Alice1')
    expect(await screen.findByText('Too easy to guess')).toBeTruthy()
  })

  it('says nothing of the field that is left while a button is pressed, which would move it away', async () => {
    const { user } = open()
    await user.type(secret('Password'), 'Harbour#2026')
    await user.type(secret(/confirm/i), 'other')
    await user.pointer({ keys: '[MouseLeft>]', target: submit() })
    expect(document.activeElement).toBe(secret(/confirm/i))
    expect(describedBy(secret(/confirm/i))).not.toContain('Password not consistent')
    await user.pointer({ keys: '[/MouseLeft]', target: submit() })
    expect(describedBy(secret(/confirm/i))).toContain('Password not consistent')
    expect(document.activeElement).toBe(text('Username'))
  })

  it('shows what the server refuses at its field, where it stays until that is changed', async () => {
    const view = open()
    await fillIn(view)
    await typePasswords(view)
    answerRefused(accounts.signUp, 'unknown_invite_code', {
      data: { errors: { invite_code: 'This invite code does not exist' } }
    })
    await view.user.click(submit())
    const field = text(/invite/i)
    await waitFor(() => expect(describedBy(field)).toContain('This invite code does not exist'))
    expect(document.activeElement).toBe(field)
    expect(alertOf()).toBeNull()
    await view.user.type(text('Username'), 'x')
    expect(describedBy(field)).toContain('This invite code does not exist')
    await view.user.type(field, 'x')
    expect(describedBy(field)).not.toContain('This invite code does not exist')
  })

  it('says in one place what belongs to no field that is shown', async () => {
    const view = open()
    await fillIn(view)
    await typePasswords(view)
    answerRefused(accounts.signUp, 'too_many')
    await view.user.click(submit())
    await waitFor(() => expect(alertOf()).not.toBeNull())
    expect(alertOf()).toBe(document.activeElement)
  })

  it('keeps all but the passwords over a reload, and nothing after the account is made', async () => {
    const first = open()
    await fillIn(first)
    await typePasswords(first)
    const kept = sessionStorage.getItem('netlet-draft-sign-up') ?? ''
    expect(kept).toContain('Alice1')
    expect(kept).not.toContain('Harbour#2026')
    first.unmount()
    const view = open()
    expect(text('Username')).toHaveProperty('value', 'Alice1')
    expect(text('Email')).toHaveProperty('value', 'a@example.com')
    expect(text('Verification code')).toHaveProperty('value', '123456')
    expect(secret('Password')).toHaveProperty('value', '')
    expect(screen.getByRole('button', { name: /^(600|59\d) s/ })).toHaveProperty('disabled', true)
    await typePasswords(view)
    answer(accounts.signUp, customer)
    await view.user.click(submit())
    await waitFor(() => expect(view.where()).toBe('/product'))
    expect(await screen.findByText('Created successfully')).toBeTruthy()
    expect(requestsOf(accounts.signUp)[0]?.body).toMatchObject({ email_code_id: CODE_ID, username: 'Alice1' })
    expect(sessionStorage).toHaveLength(0)
  })

  it('takes the invite code of the address before the one that was kept', async () => {
    const first = open()
    await first.user.type(text(/invite/i), 'former')
    first.unmount()
    open('/createAccount?invite_code=newer')
    expect(text(/invite/i)).toHaveProperty('value', 'newer')
  })

  it('forgets after an hour, takes nothing that is none of it, and works without a store', async () => {
    const at = Date.parse('2026-05-15T12:00:00Z')
    vi.useFakeTimers({ toFake: ['Date'], now: at })
    sessionStorage.setItem(
      'netlet-draft-sign-up',
      JSON.stringify({ at: at - 3_700_000, version: '', entered: { username: 'Alice1', email: 'a@example.com' } })
    )
    open().unmount()
    const entered = { username: { length: 3 }, code_until: 'x' }
    for (const hostile of ['{', '[]', 'null', JSON.stringify({ at, version: '', entered })]) {
      sessionStorage.setItem('netlet-draft-sign-up', hostile)
      const { unmount } = open()
      expect(text('Username')).toHaveProperty('value', '')
      unmount()
    }
    const refuse = () => {
      throw new DOMException('denied', 'SecurityError')
    }
    vi.spyOn(Storage.prototype, 'getItem').mockImplementation(refuse)
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(refuse)
    const { user } = open()
    await user.type(text('Username'), 'Bob11')
    expect(text('Username')).toHaveProperty('value', 'Bob11')
  })
})
