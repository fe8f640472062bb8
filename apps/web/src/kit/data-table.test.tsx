import { useQuery } from '@tanstack/react-query'
import { screen, waitFor, within } from '@testing-library/react'
import { useState } from 'react'
import { describe, expect, it, vi } from 'vitest'
import { read } from '../api/query.ts'
import { accounts } from '../api/routes.ts'
import { answer, answerLost, hold, requestsOf } from '../testing/answers.ts'
import { renderAt, setWidth } from '../testing/render.tsx'
import { DataTable } from './data-table.tsx'
import { useAddressPaging } from './use-paging.ts'

const rowsFrom = (first: number, count: number, total: number) => ({
  data: Array.from({ length: count }, (_, index) => ({
    id: first + index,
    username: `user${first + index}`,
    created_at: '2026-06-14T10:00:00.000Z'
  })),
  total,
  total_exact: true,
  limit: 5,
  offset: first - 1,
  next: null
})

function List() {
  const paging = useAddressPaging(5)
  const [chosen, setChosen] = useState<number | null>(null)
  const { data, isPending, isPlaceholderData, error, refetch } = useQuery({
    ...read(accounts.inviteLog, { query: { limit: paging.limit, offset: paging.offset } }),
    placeholderData: previous => previous
  })
  return (
    <DataTable
      label="Users"
      columns={[
        { key: 'name', title: 'Name', lead: true, render: user => user.username },
        { key: 'more', title: 'More', render: user => <a href={`#${user.id}`}>more of {user.id}</a> }
      ]}
      rows={data?.data}
      rowKey={user => user.id}
      pending={isPending}
      stale={isPlaceholderData}
      error={error}
      onRetry={() => void refetch()}
      empty={{ title: 'Nobody' }}
      paging={paging}
      total={data?.total}
      selected={chosen}
      onRow={user => setChosen(user.id)}
      needs={59}
    />
  )
}
const open = async (at = '/list') => {
  answer(accounts.inviteLog, rowsFrom(1, 5, 12))
  const view = renderAt(<List />, { at })
  await screen.findByText('user1')
  return view
}
const range = (text: string) => screen.findByText(text)

describe('going to another page', () => {
  it('is a list of cards where its place has less room than its columns need', async () => {
    const width = vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect')
    width.mockReturnValue(new DOMRect(0, 0, 940, 400))
    const { unmount } = await open()
    expect(screen.getByRole('list', { name: 'Users' })).toBeTruthy()
    unmount()
    width.mockReturnValue(new DOMRect(0, 0, 960, 400))
    await open()
    expect(screen.getByRole('table')).toBeTruthy()
  })

  it('shows the figures of the rows that are shown, marked as busy, until the others are there', async () => {
    const { user, where } = await open()
    const arrive = hold(accounts.inviteLog)
    await user.click(screen.getByRole('button', { name: 'Page 3' }))
    expect(where()).toBe('/list?page=3')
    expect(screen.getByRole('table').getAttribute('aria-busy')).toBe('true')
    expect(screen.getByText('1 to 5 of 12')).toBeTruthy()
    expect(screen.getByText('user1')).toBeTruthy()
    // The button responds at once.
    expect(screen.getByRole('button', { name: 'Page 3' }).getAttribute('aria-current')).toBe('page')
    arrive(rowsFrom(11, 2, 12))
    await range('11 to 12 of 12')
    expect(screen.getByText('user11')).toBeTruthy()
    expect(screen.getByRole('table').getAttribute('aria-busy')).toBe('false')
  })

  it('keeps the way back to the other pages where one cannot be read', async () => {
    const { user } = await open()
    answerLost(accounts.inviteLog)
    await user.click(screen.getByRole('button', { name: 'Next' }))
    await screen.findByRole('alert')
    expect(screen.queryByText('1 to 5 of 12')).toBeNull()
    answer(accounts.inviteLog, rowsFrom(11, 2, 12))
    await user.click(screen.getByRole('button', { name: 'Page 3' }))
    await range('11 to 12 of 12')
  })

  it('goes on with the last page where the address names one that is not there, without a step for Back', async () => {
    answer(accounts.inviteLog, rowsFrom(41, 0, 12))
    const { where } = renderAt(<List />, { at: '/list?page=9&order=4' })
    await waitFor(() => expect(where()).toBe('/list?page=3&order=4'))
    expect(screen.queryByText('Nobody')).toBeNull()
    await waitFor(() => expect(requestsOf(accounts.inviteLog).at(-1)).toMatchObject({ query: { offset: '10' } }))
  })

  it('leads to the top of a table whose top is out of sight, with the focus', async () => {
    const { user } = await open()
    const scrolled = vi.spyOn(Element.prototype, 'scrollIntoView').mockImplementation(() => {})
    const place = vi.spyOn(Element.prototype, 'getBoundingClientRect')
    place.mockReturnValue(new DOMRect(0, 100, 800, 400))
    await user.click(screen.getByRole('button', { name: 'Next' }))
    expect(scrolled).not.toHaveBeenCalled()
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Next' }))
    place.mockReturnValue(new DOMRect(0, -900, 800, 1200))
    await user.click(screen.getByRole('button', { name: 'Previous' }))
    expect(scrolled).toHaveBeenCalledTimes(1)
    expect(document.activeElement).toBe(screen.getByRole('group', { name: 'Users' }))
  })
})

describe.each([
  ['row', 1280, 'tr'],
  ['card', 390, 'li']
])('a %s', (_, width, element) => {
  const rowOf = (text: string) => screen.getByText(text).closest(element)

  it('is chosen by a click anywhere in it, but not by one on a link or at the end of marking text', async () => {
    setWidth(width)
    const { user } = await open()
    await user.click(screen.getByText('user2'))
    expect(rowOf('user2')?.getAttribute('data-selected')).toBe('true')
    await user.click(within(rowOf('user3') as HTMLElement).getByRole('link'))
    expect(rowOf('user3')?.hasAttribute('data-selected')).toBe(false)
    vi.spyOn(window, 'getSelection').mockReturnValue({ toString: () => 'user4' } as Selection)
    await user.click(screen.getByText('user4'))
    expect(rowOf('user4')?.hasAttribute('data-selected')).toBe(false)
  })
})
