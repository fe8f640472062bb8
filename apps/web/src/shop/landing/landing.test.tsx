import { screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { catalog } from '../../api/routes.ts'
import { answer } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { pageOf } from '../../testing/shapes.ts'
import { Landing } from './page.tsx'

it('says of a shop without plans that nothing is on sale, and nothing of tags', async () => {
  answer(catalog.products, pageOf())
  answer(catalog.collections, pageOf())
  answer(catalog.tags, pageOf())
  renderAt(<Landing />, { user: null })
  expect(await screen.findByText('No plan is on sale at the moment.')).toBeTruthy()
  expect(screen.queryByText(/tags that you chose/)).toBeNull()
})
