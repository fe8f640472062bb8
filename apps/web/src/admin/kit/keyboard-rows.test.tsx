import { screen } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { Dialog } from '../../kit/dialog.tsx'
import { renderAt } from '../../testing/render.tsx'
import { DataTable } from './data-table.tsx'
import { singleKeys } from './keyboard.ts'

type Row = { id: number; name: string }
const rowsOf = (...names: string[]): Row[] => names.map((name, index) => ({ id: index + 1, name }))

const Table = ({ label, rows, link = false }: { label: string; rows: Row[]; link?: boolean }) => (
  <DataTable
    label={label}
    columns={[
      {
        key: 'name',
        title: 'Name',
        lead: true,
        render: ({ name }) => (link ? <a href={`#${name}`}>{name}</a> : <button type="button">End {name}</button>)
      }
    ]}
    rows={rows}
    rowKey={row => row.id}
    pending={false}
    empty={{ title: 'Nothing' }}
  />
)
/** The focused row's text. */
const focused = () => document.activeElement?.closest('[data-row]')?.textContent

describe('keys that were switched off', () => {
  it('do nothing, in this browser from then on; Enter still opens', async () => {
    const { user } = renderAt(<Table label="Orders" rows={rowsOf('order')} link />, { at: '/' })
    singleKeys.set(false)
    expect(localStorage.getItem('netlet-single-keys')).toBe('off')
    await user.keyboard('j')
    expect(focused()).toBeUndefined()
    const opened = vi.spyOn(screen.getByRole('link'), 'click').mockImplementation(() => {})
    screen.getByRole('link').closest<HTMLElement>('[data-row]')?.focus()
    await user.keyboard('x{Enter}')
    expect(opened).toHaveBeenCalledOnce()
    singleKeys.set(true)
    await user.keyboard('j')
    expect(focused()).toBe('order')
  })
})

describe('Enter', () => {
  it('follows the first link of the row, and presses no button that does something', async () => {
    const { user } = renderAt(
      <>
        <Table label="Orders" rows={rowsOf('order')} link />
        <Table label="Sessions" rows={rowsOf('session')} />
      </>,
      { at: '/' }
    )
    const [followed, pressed] = [vi.fn(), vi.fn()]
    screen.getByRole('link').addEventListener('click', followed)
    screen.getByRole('button').addEventListener('click', pressed)
    await user.keyboard('j{Enter}')
    expect(followed).toHaveBeenCalledTimes(1)
    await user.keyboard('j{Enter}')
    expect(focused()).toBe('End session')
    expect(followed).toHaveBeenCalledTimes(1)
    expect(pressed).not.toHaveBeenCalled()
  })
})

it('a dialog has the keys while it is open, and a field keeps what is typed into it', async () => {
  const { user } = renderAt(
    <>
      <Table label="Below" rows={rowsOf('below')} />
      <Dialog onClose={() => {}} title="Above">
        <input aria-label="Words" />
        <Table label="Inside" rows={rowsOf('inside')} />
      </Dialog>
    </>,
    { at: '/' }
  )
  const words = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Words' })
  await user.click(words)
  await user.keyboard('jk')
  expect(words.value).toBe('jk')
  words.blur()
  await user.keyboard('j')
  expect(focused()).toBe('End inside')
})
