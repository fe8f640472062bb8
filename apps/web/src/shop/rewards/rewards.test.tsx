import { act, screen, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { setLanguage } from '../../i18n/language.ts'
import { renderAt } from '../../testing/render.tsx'
import { customer } from '../../testing/shapes.ts'
import PublicRewardsPage from './page.tsx'

describe('the public rewards page', () => {
  it('shows the banner, the five tiers, sample activity and what coins are exchanged for', async () => {
    renderAt(<PublicRewardsPage />, { at: '/rewards', route: '/rewards', user: null })
    const tiers = within(await screen.findByRole('region', { name: 'Levels' })).getAllByRole('listitem')
    expect(tiers.map(tier => tier.textContent)).toEqual([
      'MemberFrom 100 points',
      'SilverFrom 5,000 points',
      'GoldFrom 10,000 points',
      'PlatinumFrom 20,000 points',
      'DiamondFrom 50,000 points'
    ])
    const activity = within(screen.getByRole('region', { name: 'Recent point activity' }))
    expect(activity.getAllByRole('row')).toHaveLength(5)
    expect(activity.getByText(/Sample data/)).toBeTruthy()
    const exchange = within(screen.getByRole('region', { name: 'Exchange coins' }))
    expect(exchange.getAllByRole('listitem').map(item => item.textContent)).toContain('$10900 coins')
    expect(screen.getByRole('link', { name: 'Create account' }).getAttribute('href')).toBe('/createAccount')
  })

  it('names the levels in the language of the page', async () => {
    renderAt(<PublicRewardsPage />, { at: '/rewards', route: '/rewards', user: null })
    await act(() => setLanguage('zh-CN'))
    const tiers = screen.getAllByRole('list')[0]
    expect(
      within(tiers as HTMLElement)
        .getAllByRole('listitem')
        .map(item => item.querySelector('strong')?.textContent)
    ).toEqual(['会员', '白银', '黄金', '铂金', '钻石'])
    await act(() => setLanguage('en'))
  })

  it('leads a customer to what they have earned', async () => {
    renderAt(<PublicRewardsPage />, { at: '/rewards', route: '/rewards', user: customer })
    const link = await screen.findByRole('link', { name: 'Your rewards' })
    expect(link.getAttribute('href')).toBe('/dashboard/index/rewards')
  })
})
