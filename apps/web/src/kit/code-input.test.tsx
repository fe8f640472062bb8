import { screen } from '@testing-library/react'
import { useState } from 'react'
import { expect, it } from 'vitest'
import { renderAt } from '../testing/render.tsx'
import { CodeInput } from './code-input.tsx'

function Form() {
  const [value, setValue] = useState('')
  return <CodeInput label="Code" value={value} onChange={event => setValue(event.currentTarget.value)} />
}

it('takes a mailed code with the spaces that were copied along', async () => {
  const { user } = renderAt(<Form />)
  const field = screen.getByRole<HTMLInputElement>('textbox', { name: 'Code' })
  await user.click(field)
  await user.paste('    809 511 ')
  expect(field.value).toBe('809511')
  await user.type(field, '7')
  expect(field.value).toBe('809511')
})
