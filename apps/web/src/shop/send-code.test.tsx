import { onlineManager } from '@tanstack/react-query'
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { afterEach, describe, expect, it } from 'vitest'
import { queryClient } from '../api/query.ts'
import { accounts } from '../api/routes.ts'
import { setLanguage } from '../i18n/language.ts'
import { hold, requestsOf } from '../testing/answers.ts'
import { renderAt } from '../testing/render.tsx'
import { SendCode } from './send-code.tsx'

const open = () => {
  const sent: string[] = []
  renderAt(
    <SendCode email="a@example.com" type="register" onSent={id => sent.push(id)} onRefused={() => {}} label="Code" />,
    { at: '/', route: '/' }
  )
  return sent
}
const ID = '0197f0a0-0000-7000-8000-000000000001'

afterEach(() => act(() => setLanguage('en')))

describe('the button that has a code sent', () => {
  it('sends one for a double click, in the language of the page', async () => {
    await act(() => setLanguage('zh-CN'))
    const reply = hold(accounts.emailValidate)
    const sent = open()
    const button = screen.getByRole('button')
    fireEvent.click(button)
    fireEvent.click(button)
    await waitFor(() => expect(requestsOf(accounts.emailValidate)).toHaveLength(1))
    reply({ email_code_id: ID })
    await waitFor(() => expect(sent).toEqual([ID]))
    expect(requestsOf(accounts.emailValidate).map(({ body }) => body)).toEqual([
      { email: 'a@example.com', type: 'register', language: 'zh-CN' }
    ])
  })
})

describe('an action without a network', () => {
  afterEach(() => onlineManager.setOnline(true))

  it('is tried at once, and is not kept to be made later', async () => {
    expect(queryClient.getDefaultOptions().mutations?.networkMode).toBe('always')
    onlineManager.setOnline(false)
    let tries = 0
    const mutation = queryClient.getMutationCache().build(queryClient, {
      mutationFn: () => {
        tries += 1
        return Promise.reject(new Error('no network'))
      }
    })
    await expect(mutation.execute(undefined)).rejects.toThrow('no network')
    expect(mutation.state).toMatchObject({ status: 'error', isPaused: false })
    onlineManager.setOnline(true)
    await queryClient.resumePausedMutations()
    expect(tries).toBe(1)
  })
})
