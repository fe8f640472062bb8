import { act, screen, waitFor } from '@testing-library/react'
import { beforeEach, describe, expect, it } from 'vitest'
import { queryClient } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { sessionQuery } from '../../api/session.ts'
import { setLanguage } from '../../i18n/language.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer } from '../../testing/shapes.ts'
import ForgotPage from './page.tsx'

const CODE_ID = '0197f0a0-0000-7000-8000-000000000001'
const VERIFY_ID = '0197f0a0-0000-7000-8000-000000000002'

const open = (at = '/forgot') => {
  answer(accounts.logout, null)
  return renderAt(<ForgotPage />, { at, route: '/forgot' })
}
const email = () => screen.getByRole('textbox', { name: 'Email' })
const code = () => screen.getByRole('textbox', { name: 'Verification code' })
const next = () => screen.getByRole('button', { name: 'Next' })
const describedBy = (field: HTMLElement) =>
  (field.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .map(id => document.getElementById(id)?.textContent)
    .join()

/** The form's own alert; toasts are alerts too. */
const alertOf = () => document.querySelector('form')?.querySelector('[role=alert]') ?? null

beforeEach(() => sessionStorage.clear())

/** Proceeds to the second step. */
async function verify({ user }: Pick<ReturnType<typeof open>, 'user'>) {
  answer(accounts.emailValidate, { email_code_id: CODE_ID })
  answer(accounts.forgotVerify, { verify_id: VERIFY_ID })
  await user.type(email(), 'a@example.com')
  await user.click(screen.getByRole('button', { name: 'send code' }))
  await screen.findByRole('button', { name: /^\d+ s/ })
  await user.type(code(), '123456')
  await user.click(next())
  await screen.findByLabelText('New password', { selector: 'input' })
}

describe('the page of a forgotten password', () => {
  it('ends the session that there is, once', async () => {
    answer(accounts.logout, null)
    const view = renderAt(<ForgotPage />, { at: '/forgot', route: '/forgot', user: customer })
    await waitFor(() => expect(queryClient.getQueryData(sessionQuery.queryKey)).toBeNull())
    await verify(view)
    expect(requestsOf(accounts.logout)).toHaveLength(1)
  })

  it('says of the form and at each field what is missing, and follows the language', async () => {
    const { user } = open()
    await user.click(next())
    expect(alertOf()?.textContent).toBe('Please enter your email or code!')
    expect(describedBy(email())).toContain('Please enter your email address!')
    expect(describedBy(code())).toContain('Please input code')
    expect(document.activeElement).toBe(email())
    expect(requestsOf(accounts.forgotVerify)).toEqual([])
    await act(() => setLanguage('zh-CN'))
    expect(alertOf()?.textContent).toBe('请输入您的邮箱或验证码！')
  })

  it('keeps the address and the mailed code over a reload, and shows at its field that the code is wrong', async () => {
    const view = open()
    answer(accounts.emailValidate, { email_code_id: CODE_ID })
    await view.user.type(email(), 'a@example.com')
    await view.user.click(screen.getByRole('button', { name: 'send code' }))
    await screen.findByRole('button', { name: /^\d+ s/ })
    view.unmount()
    const { user } = open()
    expect(screen.getByRole('button', { name: /^\d+ s/ })).toHaveProperty('disabled', true)
    const sentence = 'The verification code is not correct or has expired'
    answerRefused(accounts.forgotVerify, 'wrong_email_code', { data: { errors: { email_code: sentence } } })
    await user.type(code(), '000000')
    await user.click(next())
    await waitFor(() => expect(describedBy(code())).toContain(sentence))
    expect(requestsOf(accounts.forgotVerify)[0]?.body).toEqual({
      email: 'a@example.com',
      email_code: '000000',
      email_code_id: CODE_ID
    })
  })

  it('has an address for the second step, which is none without the proof of the first', async () => {
    const view = open('/forgot?return=%2Fdashboard%2Findex%2Finvite')
    await verify(view)
    expect(view.where()).toBe('/forgot?return=%2Fdashboard%2Findex%2Finvite&step=reset')
    view.unmount()
    open('/forgot?step=reset')
    expect(email()).toBeTruthy()
  })

  it('takes the proof of a link in a mail', async () => {
    const { user } = open(`/forgot?step=reset#email=a%40example.com&verify_id=${VERIFY_ID}`)
    answer(accounts.forgot, null)
    for (const field of [/^New password/, /confirm/i])
      await user.type(await screen.findByLabelText(field, { selector: 'input' }), 'Harbour#2026')
    await user.click(screen.getByRole('button', { name: 'Confirm' }))
    await waitFor(() => expect(requestsOf(accounts.forgot)).toHaveLength(1))
    expect(requestsOf(accounts.forgot)[0]?.body).toMatchObject({ email: 'a@example.com', verify_id: VERIFY_ID })
  })

  it('tells every wrong entry of the new password at once, and leads to the login after a right one', async () => {
    const view = open()
    await verify(view)
    const { user } = view
    await user.click(screen.getByRole('button', { name: 'Confirm' }))
    expect(screen.getAllByText('Please enter your password!')).toHaveLength(2)
    const password = screen.getByLabelText('New password', { selector: 'input' })
    const again = screen.getByLabelText(/confirm/i, { selector: 'input' })
    await user.type(password, 'weak')
    await user.type(again, 'other')
    await user.click(screen.getByRole('button', { name: 'Confirm' }))
    expect(describedBy(password)).toContain('Password must contain at least one lowercase letter')
    expect(describedBy(again)).toContain('The two passwords are inconsistent!')
    expect(document.activeElement).toBe(password)
    await user.clear(password)
    await user.clear(again)
    await user.type(password, 'Harbour#2026')
    await user.type(again, 'Harbour#2026')
    answerRefused(accounts.forgot, 'wrong_verification')
    await user.click(screen.getByRole('button', { name: 'Confirm' }))
    await waitFor(() => expect(alertOf()?.textContent).toMatch(/verification/i))
    answer(accounts.forgot, null)
    await user.click(screen.getByRole('button', { name: 'Confirm' }))
    await waitFor(() => expect(view.where()).toBe('/login'))
  })
})
