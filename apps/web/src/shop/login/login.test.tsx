import { act, screen, waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { accounts } from '../../api/routes.ts'
import { setLanguage } from '../../i18n/language.ts'
import { answer, answerRefused, hold, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer } from '../../testing/shapes.ts'
import LoginPage from './page.tsx'

const captcha = { captcha_id: '0197f0a0-0000-7000-8000-000000000001', captcha_image_base: 'data:image/png;base64,AAAA' }

const open = (at = '/login') => {
  answer(accounts.logout, null)
  return renderAt(<LoginPage />, { at, route: '/login' })
}
const fillIn = async (user: ReturnType<typeof open>['user']) => {
  await user.type(screen.getByLabelText('Username or email'), 'alice')
  await user.type(screen.getByLabelText('Password', { selector: 'input' }), 'Secret#123')
}
const submit = () => screen.getByRole('button', { name: 'Login' })

describe('the login page', () => {
  it('ends the former session before the login, and leads to the products', async () => {
    const loggedOut = hold(accounts.logout)
    const { user, where } = renderAt(<LoginPage />, { at: '/login', route: '/login', user: customer })
    answer(accounts.login, customer)
    await fillIn(user)
    await user.click(submit())
    expect(requestsOf(accounts.login)).toEqual([])
    loggedOut(null)
    await waitFor(() => expect(where()).toBe('/product'))
    expect(requestsOf(accounts.login)).toMatchObject([{ body: { username: 'alice', password: 'Secret#123' } }])
  })

  it('ends nothing for a visitor, because that could end a login in another tab', async () => {
    const { user, where } = renderAt(<LoginPage />, { at: '/login', route: '/login', user: null })
    answer(accounts.login, customer)
    await fillIn(user)
    await user.click(submit())
    await waitFor(() => expect(where()).toBe('/product'))
    expect(requestsOf(accounts.logout)).toEqual([])
  })

  it('leads back to where the visitor wanted to go, but not to another site', async () => {
    answer(accounts.login, customer)
    const { user, where, unmount } = open('/login?return=%2Fdashboard%2Findex%2Finvite')
    await fillIn(user)
    await user.click(submit())
    await waitFor(() => expect(where()).toBe('/dashboard/index/invite'))
    unmount()
    const elsewhere = open('/login?return=%2F%2Fevil.example')
    await fillIn(elsewhere.user)
    await elsewhere.user.click(submit())
    await waitFor(() => expect(elsewhere.where()).toBe('/product'))
  })

  it('turns the captcha on when the server asks for it, and renews it after each failure', async () => {
    answer(accounts.captcha, captcha)
    answerRefused(accounts.login, 'wrong_login', { data: { require_captcha: true } })
    const { user } = open()
    expect(screen.queryByLabelText(/picture/i)).toBeNull()
    await fillIn(user)
    await user.click(submit())
    const field = await screen.findByRole('textbox', { name: 'Result of the calculation' })
    expect(await screen.findByText('The username, email or password is not correct')).toBeTruthy()
    expect(document.activeElement).toBe(field)
    expect(await screen.findByRole('img', { name: /calculation/i })).toHaveProperty('src', captcha.captcha_image_base)

    await user.click(submit())
    expect(await screen.findByText('Please enter the captcha code!')).toBeTruthy()
    expect(requestsOf(accounts.login)).toHaveLength(1)

    await user.type(field, '12')
    await user.click(submit())
    await waitFor(() => expect(requestsOf(accounts.captcha)).toHaveLength(2))
    expect(requestsOf(accounts.login)[1]?.body).toMatchObject({ captcha_id: captcha.captcha_id, captcha: '12' })
    expect(field).toHaveProperty('value', '')
  })

  it('shows at its field what the server says of the captcha', async () => {
    answer(accounts.captcha, captcha)
    const sentence = 'The captcha code is not correct'
    answerRefused(accounts.login, 'wrong_captcha', { data: { require_captcha: true, errors: { captcha: sentence } } })
    const { user } = open()
    await fillIn(user)
    await user.click(submit())
    const field = await screen.findByRole('textbox', { name: 'Result of the calculation' })
    const said = await screen.findByText(sentence)
    expect(field.getAttribute('aria-describedby')).toContain(said.id)
    expect(screen.queryByRole('alert')).toBeNull()
  })

  it('leads to the page for a forgotten password, and keeps the way back', () => {
    open('/login?return=%2Fdashboard%2Findex%2Finvite')
    const link = screen.getByRole('link', { name: 'Forgot password?' })
    expect(link.getAttribute('href')).toBe('/forgot?return=%2Fdashboard%2Findex%2Finvite')
  })

  it('says what is missing, without asking the server', async () => {
    const { user } = open()
    await user.click(submit())
    expect(await screen.findByText('Please enter your username or email!')).toBeTruthy()
    expect(screen.getByText('Please enter your password!')).toBeTruthy()
    expect(requestsOf(accounts.login)).toEqual([])
  })

  it('says what the server refused in one place, which stays until something is changed', async () => {
    answerRefused(accounts.login, 'wrong_login')
    const { user } = open()
    await fillIn(user)
    await user.click(submit())
    const alert = await screen.findByRole('alert')
    expect(alert.textContent).toBe('The username, email or password is not correct')
    expect(document.activeElement).toBe(alert)
    expect(alert.compareDocumentPosition(submit())).toBe(Node.DOCUMENT_POSITION_FOLLOWING)
    // A repetition uses another element, so that it is announced again.
    await user.click(submit())
    await waitFor(() => expect(screen.getByRole('alert')).not.toBe(alert))
    await user.type(screen.getByLabelText('Username or email'), 'x')
    expect(screen.queryByRole('alert')).toBeNull()
  })

  it.each([
    ['discord=failed&reason=refused', 'You declined the Discord login'],
    ['discord=failed&reason=unavailable', 'Discord is not responding. Please try again, or log in with your password.'],
    ['discord=failed', 'Could not log in with Discord'],
    ['discord=banned', 'This account has been banned']
  ])('says at the form of the chat platform what came of it, for as long as it is there: %s', async (query, words) => {
    answerRefused(accounts.discordLogin, 'discord_unavailable')
    const { user } = open(`/login?${query}`)
    expect(screen.getByRole('tab', { name: 'Discord' }).getAttribute('aria-selected')).toBe('true')
    const said = screen.getByRole('alert')
    expect(said.textContent).toBe(words)
    expect(screen.getByRole('tabpanel', { name: 'Discord' }).contains(said)).toBe(true)
    expect(document.activeElement).toBe(said)
    await act(() => setLanguage('zh-CN'))
    expect(screen.getAllByRole('alert')).toHaveLength(1)
    expect(screen.getByRole('alert').textContent).not.toBe(words)
    await act(() => setLanguage('en'))
    // Another refusal replaces the first.
    await user.click(screen.getByRole('button', { name: 'Continue with Discord' }))
    await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('Unable to obtain third-party login path!'))
  })
})
