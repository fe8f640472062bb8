import { screen, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { settings } from '../api/routes.ts'
import { answer } from '../testing/answers.ts'
import { renderAt } from '../testing/render.tsx'
import { Footer } from './footer.tsx'

const WARNING =
  'All sales are final. There are no refunds and no order changes after payment. Only general connectivity of the IPs is guaranteed.'
const open = () => renderAt(<Footer isConsole={false} brief={false} />, { user: null })

describe('the page footer', () => {
  it('warns, and leads to what belongs together', async () => {
    answer(settings.social, { discord: 'https://chat.example/netlet', twitter: 'javascript:alert(1)' })
    open()
    expect(screen.getByText(WARNING)).toBeTruthy()
    const columns = screen.getAllByRole('heading', { level: 2 }).map(title => [
      title.textContent,
      within(title.parentElement!)
        .getAllByRole('link')
        .map(link => link.getAttribute('href'))
    ])
    expect(columns).toEqual([
      ['Product', ['/product', '/rewards', '/dashboard']],
      ['Support', ['/support#faq', '/support#contact', '/api-reference', '/status']],
      ['Legal', ['/policy?id=1', '/policy?id=2', '/policy?id=3']]
    ])
    expect((await screen.findByRole('link', { name: 'Discord' })).getAttribute('href')).toBe(
      'https://chat.example/netlet'
    )
    // A value that is no web address is not linked.
    expect(screen.queryByRole('link', { name: 'Twitter' })).toBeNull()
  })

  it('speaks the other language at once', async () => {
    answer(settings.social, { discord: '', twitter: '' })
    const { user } = open()
    expect(screen.getByRole('button', { name: 'English' }).getAttribute('aria-pressed')).toBe('true')
    await user.click(screen.getByRole('button', { name: '简体中文' }))
    expect(await screen.findByRole('heading', { name: '法律条款' })).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'English' }))
    expect(await screen.findByText(WARNING)).toBeTruthy()
  })
})
