import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { act, screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { setLanguage } from '../i18n/language.ts'
import { ApiError } from '../api/client.ts'
import { fieldTexts } from '../i18n/failures.ts'
import { renderAt } from '../testing/render.tsx'
import { rules, useErrorsInLanguage } from './form.ts'
import { ConfirmBody } from './schemas.ts'

const refusal = () =>
  new ApiError('refused', 'The password is wrong', 400, 4000, {
    reason: 'wrong_password',
    errors: { password: 'The password is wrong' }
  })

function Form() {
  const form = useForm({ initialValues: { password: '' }, validate: rules(ConfirmBody) })
  useErrorsInLanguage(form)
  return (
    <form onSubmit={form.onSubmit(() => form.setErrors(fieldTexts(refusal())))}>
      <TextInput aria-label="password" {...form.getInputProps('password')} />
      <button type="submit">send</button>
      <p data-testid="wrong">{form.errors['password']}</p>
    </form>
  )
}
const wrong = () => screen.getByTestId('wrong').textContent
const choose = (language: 'en' | 'zh-CN') => act(() => setLanguage(language))

describe('what is wrong with a field', () => {
  it.each([
    ['that the form itself finds', ''],
    ['that the server refuses', 'typed']
  ])('%s follows the language, there and back', async (_, typed) => {
    const { user } = renderAt(<Form />)
    if (typed) await user.type(screen.getByRole('textbox'), typed)
    await user.click(screen.getByRole('button'))
    const english = wrong()
    expect(english).toMatch(/[a-z]/)
    await choose('zh-CN')
    expect(wrong()).toMatch(/\p{Script=Han}/u)
    await choose('en')
    expect(wrong()).toBe(english)
  })
})
