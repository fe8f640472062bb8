import { screen, waitFor, within } from '@testing-library/react'
import { RESOURCES, type AuditEntry } from '@netlet/contract'
import { describe, expect, it, vi } from 'vitest'
import { settings } from '../../api/routes.ts'
import en from '../../i18n/admin.en.json'
import { answer, requestsOf } from '../../testing/answers.ts'
import { pageOf } from '../../testing/shapes.ts'
import { keepNothing, renderScreen } from '../kit/screen.fixture.tsx'
import AuditPage from './page.tsx'
import { difference } from './cells.tsx'

const entry: AuditEntry = {
  id: 12,
  at: '2026-06-15T08:00:00.000Z',
  actor: 'boss1',
  viewed_as: 'anna',
  via: 'deploy',
  action: 'order.extend',
  target_type: 'order',
  target_id: '5',
  target_name: 'NL-five',
  before: { expired_at: '2026-07-01', agent: { token: '[secret]', url: 'a' } },
  after: { expired_at: '2026-08-01', agent: { token: '[secret]', url: 'a' } },
  ip: '198.51.100.7'
}

function open(at = '/dashboard/index/audit') {
  keepNothing()
  answer(settings.audit, pageOf(entry))
  answer(settings.auditEntry, ({ params }) => (params['id'] === '12' ? entry : { ...entry, action: 'order.refund' }))
  return renderScreen(<AuditPage />, { at })
}

describe('the audit log', () => {
  it('says who did what to what, as whom, from where, and what changed', async () => {
    open()
    expect(await screen.findByText('boss1')).toBeTruthy()
    expect(screen.getByText('as anna')).toBeTruthy()
    expect(screen.getByText('Changed the expiry')).toBeTruthy()
    expect(screen.getByText('order.extend')).toBeTruthy()
    expect(screen.getByText('198.51.100.7')).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Order NL-five' }).getAttribute('href')).toBe(
      '/dashboard/index/audit?target_type=order&target_id=5'
    )
    expect(screen.getByText('2026-08-01')).toBeTruthy()
  })

  it('says all of a change that is cut off where the mouse is on it, and nothing twice', async () => {
    const { user } = open()
    const line = (await screen.findByText('2026-08-01')).closest('li')
    if (!line) throw new Error('the change is no line')
    await user.hover(line)
    expect(line.title).toBe('')
    await user.unhover(line)
    vi.spyOn(line, 'scrollWidth', 'get').mockReturnValue(line.clientWidth + 1)
    await user.hover(line)
    expect(line.title).toBe(line.textContent)
    expect(line.title).toContain('2026-07-01 → 2026-08-01')
  })

  it('shows values in words: money, instants, yes and no, states, nothing as a dash, lists as added and removed', async () => {
    keepNothing()
    answer(settings.audit, pageOf(entry))
    const before = { state: 'failed', amount: '1234.5', expired_at: null, valid: true, servers: [1, 2] }
    const after = {
      state: 'paid',
      amount: '20.00',
      expired_at: '2026-08-01T10:00:00.000Z',
      valid: false,
      servers: [2, 3]
    }
    answer(settings.auditEntry, { ...entry, action: 'order.reopen', before, after })
    renderScreen(<AuditPage />, { at: '/dashboard/index/audit?open=99' })
    const table = within(await screen.findByRole('table', { name: 'Changes' }))
    for (const name of [
      'State Failed Paid',
      'Amount $1,234.50 $20.00',
      /^Expires – Aug\s1,\s2026/,
      /^On sale on the platform yes no$/i,
      'Servers added: 3; removed: 1'
    ])
      expect(table.getByRole('row', { name })).toBeTruthy()
  })

  it('is filtered by actor, target, verb and time, also from a shared link', async () => {
    const { user, asked } = open('/dashboard/index/audit?target_type=order&target_id=5')
    await screen.findByText('boss1')
    expect(requestsOf(settings.audit)[0]?.query).toMatchObject({ target_type: 'order', target_id: '5' })
    await user.type(screen.getByLabelText('Who'), 'boss1{Enter}')
    await user.type(screen.getByLabelText('Verb'), 'extend{Enter}')
    await user.type(screen.getByLabelText(/^From/), '2026-06-01')
    await user.tab()
    await waitFor(() =>
      expect(requestsOf(settings.audit).at(-1)?.query).toMatchObject({
        actor: 'boss1',
        verb: 'extend',
        from: '2026-06-01',
        target_id: '5'
      })
    )
    expect(asked()).toMatchObject({ actor: 'boss1' })
  })

  it('shows before and after field by field, and where the thing itself is', async () => {
    open('/dashboard/index/audit?open=12')
    const dialog = within(await screen.findByRole('dialog', { name: 'Entry' }))
    const table = within(await dialog.findByRole('table', { name: 'Changes' }))
    expect(table.getByRole('row', { name: 'Expires 2026-07-01 2026-08-01' })).toBeTruthy()
    expect(table.getByRole('row', { name: 'agent, token a secret a secret' })).toBeTruthy()
    expect(dialog.getByText('Unchanged: agent, url')).toBeTruthy()
    expect(dialog.getByRole('link', { name: 'Show Order NL-five' }).getAttribute('href')).toBe(
      '/dashboard/index/order/5'
    )
  })

  it('has a name for every kind of thing', () => {
    for (const resource of RESOURCES) expect(`audit.of.${resource}` in en, resource).toBe(true)
  })
})

describe('the difference of two values', () => {
  it('tells what was added, taken away and changed, by paths, and what stayed', () => {
    expect(difference({ a: 1, b: { c: 'x', d: [1] } }, { a: 2, b: { d: [1] }, e: null })).toEqual({
      changed: [
        { field: 'a', before: 1, after: 2 },
        { field: 'b.c', before: 'x', after: undefined },
        { field: 'e', before: undefined, after: null }
      ],
      same: ['b.d']
    })
  })

  it('finds what lies in a list by its name, and takes a list of names as one', () => {
    const row = (price: string) => ({
      variants: [{ id: 7, variant_name: 'New York', price }],
      servers: [{ id: 1, name: 'fr' }]
    })
    expect(difference(row('1'), row('2'))).toEqual({
      changed: [{ field: 'variants[New York].price', before: '1', after: '2' }],
      same: ['variants[New York].id', 'variants[New York].variant_name', 'servers']
    })
  })

  it('of one value names all of its fields; of none, none', () => {
    expect(difference(null, { a: 1 }).changed).toEqual([{ field: 'a', before: undefined, after: 1 }])
    expect(difference('gone', null).changed).toEqual([{ field: '', before: 'gone', after: undefined }])
    expect(difference(null, null)).toEqual({ changed: [], same: [] })
  })
})
