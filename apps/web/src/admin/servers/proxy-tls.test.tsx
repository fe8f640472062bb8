import type { ProxyTls } from '@netlet/contract'
import { screen, waitFor, within } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { fleet } from '../../api/routes.ts'
import { isUnsaved } from '../../kit/leaving.ts'
import { answer, answerRefused, requestsOf } from '../../testing/answers.ts'
import { admin } from '../../testing/shapes.ts'
import { renderScreen } from '../kit/screen.fixture.tsx'
import { ProxyTlsPanel } from './proxy-tls.tsx'
import { busy, noTls, say } from './servers.fixture.tsx'

const seen = {
  names: ['*.proxy.example.com'],
  issuer: 'CN=Authority',
  begins_at: '2026-11-01T00:00:00.000Z',
  ends_at: '2026-12-01T00:00:00.000Z',
  fingerprint: 'AA:BB'
}
const applied: ProxyTls = {
  ...noTls,
  source: 'pasted',
  certificate: seen,
  state: 'applied',
  shown: { names: seen.names, ends_at: seen.ends_at, days_left: 5 },
  version: 'applied'
}
const show = (tls: ProxyTls, as = admin) => {
  answer(fleet.proxyTls, tls)
  return renderScreen(<ProxyTlsPanel server={busy} />, { as })
}
const source = () => screen.findByRole('combobox', { name: 'Certificate' })

describe('the TLS to the proxies of a server', () => {
  it('takes certificate and key, typed or from files, and shows what the server finds wrong beside the field', async () => {
    const { user } = show(noTls)
    await user.selectOptions(await source(), 'pasted')
    await user.type(screen.getByRole('textbox', { name: 'Certificate and chain' }), 'PEM')
    await user.upload(
      screen.getByLabelText('Choose a file: Key', { selector: 'input' }),
      new File(['KEY\n'], 'privkey.key')
    )
    await waitFor(() => expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Key' }).value).toBe('KEY'))
    answerRefused(fleet.setProxyTls, 'tls_key_mismatch', {
      data: { errors: { key: 'The key does not match the certificate' } }
    })
    await user.click(screen.getByRole('button', { name: 'Save' }))
    const body = {
      source: 'pasted',
      certificate: 'PEM',
      key: 'KEY',
      certificate_file: '',
      key_file: '',
      version: 'no tls'
    }
    await waitFor(() => expect(requestsOf(fleet.setProxyTls)).toMatchObject([{ body }]))
    const key = screen.getByRole('textbox', { name: 'Key' })
    await waitFor(() => expect(key.getAttribute('aria-invalid')).toBe('true'))
  })

  it('says how many days are left, and of what is saved whom it names, but not the key', async () => {
    show(applied)
    expect(await screen.findByText('The agent uses this setting.')).toBeTruthy()
    expect(screen.getByText(/Days left: 5/)).toBeTruthy()
    expect(screen.getAllByText('*.proxy.example.com')).toHaveLength(2)
    expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Key' }).value).toBe('')
    expect(screen.getByText(/Leave empty to keep the stored one/)).toBeTruthy()
  })

  it('says why the agent refused it, and what a look from outside found', async () => {
    const { user } = show({ ...applied, state: 'refused', reason: 'tls_agent_too_old', msg: 'The agent is too old' })
    expect((await screen.findByRole('alert')).textContent).toContain('The agent is too old')
    answer(fleet.checkProxyTls, {
      address: '203.0.113.7',
      port: 3128,
      host: '203-0-113-7.proxy.example.com',
      leads: ['198.51.100.9'],
      findings: ['leads_elsewhere', 'expired'],
      seen
    })
    await user.click(screen.getByRole('button', { name: 'Test connection' }))
    const found = within(await screen.findByRole('status', { name: 'Test connection' }))
    expect(found.getByText(/resolves to 198\.51\.100\.9, not only to 203\.0\.113\.7:3128/)).toBeTruthy()
    expect(found.getByText(/has expired/)).toBeTruthy()
  })

  it('asks before it is taken away', async () => {
    const { user } = show(applied)
    await user.selectOptions(await source(), 'none')
    answer(fleet.setProxyTls, { ...noTls, source: 'none' })
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await say(user, 'YES')
    await waitFor(() => expect(requestsOf(fleet.setProxyTls)).toMatchObject([{ body: { source: 'none' } }]))
  })

  it('keeps a typed key when another user saves, and overwrites theirs only after that was chosen', async () => {
    const { user } = show(noTls)
    await user.selectOptions(await source(), 'pasted')
    await user.type(screen.getByRole('textbox', { name: 'Key' }), 'KEY')
    answerRefused(fleet.setProxyTls, 'stale')
    answer(fleet.proxyTls, applied)
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await user.click(await screen.findByRole('button', { name: 'Keep my values' }))
    answer(fleet.setProxyTls, { ...applied, version: 'mine' })
    await user.click(screen.getByRole('button', { name: 'Save' }))
    await waitFor(() =>
      expect(requestsOf(fleet.setProxyTls).at(-1)).toMatchObject({ body: { key: 'KEY', version: 'applied' } })
    )
  })

  it('has what was typed again after the session ended, but for the key', async () => {
    const before = show(noTls)
    await before.user.selectOptions(await source(), 'pasted')
    const field = (name: string) => screen.getByRole<HTMLTextAreaElement>('textbox', { name })
    await before.user.type(field('Certificate and chain'), 'PEM')
    expect(isUnsaved('without drafts')).toBe(false)
    await before.user.type(field('Key'), 'a secret')
    expect(isUnsaved('without drafts')).toBe(true)
    before.unmount()
    expect(Object.values(sessionStorage).join()).not.toContain('a secret')
    show(noTls)
    expect(await source()).toMatchObject({ value: 'pasted' })
    expect([field('Certificate and chain').value, field('Key').value]).toEqual(['PEM', ''])
  })

  it('is read by those who may not change it', async () => {
    show(applied, { ...admin, is_superuser: false, operator_role: 'support' })
    expect(await screen.findByText('The agent uses this setting.')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Save' })).toBeNull()
    expect(screen.queryByRole('button', { name: 'Test connection' })).toBeNull()
  })
})
