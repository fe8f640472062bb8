import { refusals } from '@netlet/contract'
import { onlineManager } from '@tanstack/react-query'
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { queryClient } from '../api/query.ts'
import { accounts } from '../api/routes.ts'
import { setLanguage } from '../i18n/language.ts'
import { answerLost, answerRefused, hold, requestsOf } from '../testing/answers.ts'
import { renderAt } from '../testing/render.tsx'
import { NO_CODE, SendCode } from './send-code.tsx'

const open = (email = 'a@example.com') => {
  const sent: string[] = []
  const refused: Record<string, string>[] = []
  renderAt(
    <SendCode
      email={email}
      type="register"
      mailed={NO_CODE}
      onSent={({ id }) => sent.push(id)}
      onRefused={errors => refused.push(errors)}
      label="Code"
    />,
    { at: '/', route: '/' }
  )
  return { sent, refused }
}
const ID = '0197f0a0-0000-7000-8000-000000000001'

describe('the button that has a code sent', () => {
  it('sends one for a double click, in the language of the page', async () => {
    await act(() => setLanguage('zh-CN'))
    const reply = hold(accounts.emailValidate)
    const { sent } = open()
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

describe('why no code was sent', () => {
  const ask = () => fireEvent.click(screen.getByRole('button', { name: 'send code' }))

  it('is told beside the address that is missing, or beside the button', async () => {
    const { refused } = open(' ')
    ask()
    expect(refused).toEqual([{ email: 'Please enter your email address!' }])
    expect(requestsOf(accounts.emailValidate)).toEqual([])
  })

  it.each(['email_code_too_soon', 'email_code_limit'] as const)('is told at the field: %s', async reason => {
    const sentence = refusals[reason][1]
    answerRefused(accounts.emailValidate, reason, { data: { errors: { email_code: sentence } } })
    const { refused } = open()
    ask()
    await waitFor(() => expect(refused).toEqual([{ email_code: sentence }]))
  })

  it('is told there too where no answer came', async () => {
    answerLost(accounts.emailValidate)
    const { refused } = open()
    ask()
    await waitFor(() => expect(Object.keys(refused[0] ?? {})).toEqual(['email_code']))
  })
})

describe('an action without a network', () => {
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
