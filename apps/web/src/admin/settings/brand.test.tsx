import { act, screen, waitFor, within } from '@testing-library/react'
import { Settings, type Brand } from '@netlet/contract'
import { afterEach, expect, it } from 'vitest'
import { settings } from '../../api/routes.ts'
import { BrandName } from '../../kit/brand.tsx'
import { useTitle } from '../../kit/use-title.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import { showBrand } from './brand.tsx'
import WebSettingsPage from './page.tsx'

const brand: Brand = { name: 'Netlet', accent: '', logo: null }
const saved = { ...Settings.parse({}), version: 'v1' }

afterEach(() => act(() => showBrand(brand)))

function Page() {
  useTitle('Settings')
  return (
    <>
      <header data-testid="head">
        <BrandName />
      </header>
      <WebSettingsPage />
    </>
  )
}

async function open() {
  answer(settings.config, saved)
  answer(settings.brand, brand)
  const view = renderScreen(<Page />, { at: '/dashboard/index/WebsiteSettings?tab=brand' })
  await screen.findByRole('region', { name: 'Preview' })
  return view
}

it('previews what is typed, and says which colours are adjusted', async () => {
  const { user } = await open()
  const preview = within(screen.getByRole('region', { name: 'Preview' }))
  await user.clear(screen.getByRole('textbox', { name: 'Shop name' }))
  await user.type(screen.getByRole('textbox', { name: 'Shop name' }), 'Ada')
  expect(preview.getAllByText('Ada')).toHaveLength(3)
  await user.type(screen.getByRole('textbox', { name: 'Accent colour' }), '#ffee00')
  expect(preview.getByRole('status').textContent).toMatch(/^In light mode, and on buttons, we use #[\da-f]{6}/)
  await user.type(screen.getByRole('textbox', { name: 'Footer of emails' }), 'Ada Ltd')
  expect(preview.getByText(/Ada Ltd/)).toBeTruthy()
  expect(screen.getByTestId('head').textContent).toBe('Netlet')
})

it('shows a saved name and colour at once', async () => {
  const { user } = await open()
  answer(settings.saveConfig, { ...saved, shop_name: 'Ada', shop_accent: '#7c3aed', version: 'v2' })
  await user.type(screen.getByRole('textbox', { name: 'Accent colour' }), '#7c3aed')
  await user.click(screen.getByRole('button', { name: 'Save' }))
  await waitFor(() => expect(screen.getByTestId('head').textContent).toBe('Ada'))
  expect(document.title).toBe('Settings · Ada')
  expect(document.getElementById('accent')?.textContent).toContain('--nl-accent:#7c3aed')
})

it('uploads a logo and shows it, or why it was refused', async () => {
  const { user } = await open()
  const file = new File(['<svg></svg>'], 'logo.svg', { type: 'image/svg+xml' })
  const input = screen.getByLabelText<HTMLInputElement>('Upload a picture', { selector: 'input' })
  answerRefused(settings.saveLogo, 'invalid', { data: { errors: { picture: 'Contains scripts' } } })
  await user.upload(input, file)
  expect(await screen.findByText('Contains scripts')).toBeTruthy()
  answer(settings.saveLogo, { ...brand, logo: '/logo?v=1' })
  await user.upload(input, file)
  await waitFor(() => expect(screen.getByTestId('head').querySelector('img')?.getAttribute('src')).toBe('/logo?v=1'))
  const body = { picture: btoa('<svg></svg>') }
  expect(requestsOf(settings.saveLogo)).toMatchObject([{ body }, { body }])
})
