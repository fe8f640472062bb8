import { act, fireEvent, screen } from '@testing-library/react'
import { useNavigate } from 'react-router'
import { describe, expect, it } from 'vitest'
import { renderAt } from '../testing/render.tsx'
import { numberIn, useAddress, type AddressChange } from './use-address.ts'
import { useAddressPaging } from './use-paging.ts'

function Part({ changes, push = false }: { changes: AddressChange[]; push?: boolean }) {
  const { change } = useAddress()
  const navigate = useNavigate()
  return (
    <>
      <button onClick={() => changes.forEach(one => change(one, { push }))}>change</button>
      <button onClick={() => void navigate(-1)}>back</button>
    </>
  )
}
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }))

describe('the parameters of the address', () => {
  it('that a change does not name stay, as does the part behind #', () => {
    const { where } = renderAt(<Part changes={[{ page: 3, renew: null }]} />, { at: '/list?renew=7&order=12#below' })
    press('change')
    expect(where()).toBe('/list?order=12&page=3#below')
  })

  it('take two changes of the same moment', () => {
    const { where } = renderAt(<Part changes={[{ page: 2 }, { order: 5 }, { size: 50 }]} />, { at: '/list' })
    press('change')
    expect(where()).toBe('/list?page=2&order=5&size=50')
  })

  it('are changed without a step that Back undoes, unless one was asked for', () => {
    const { where } = renderAt(<Part changes={[{ page: 2 }]} push />, { at: '/list?order=5' })
    press('change')
    press('change')
    expect(where()).toBe('/list?order=5&page=2')
    press('back')
    expect(where()).toBe('/list?order=5')
    press('change')
    expect(where()).toBe('/list?order=5&page=2')
  })

  it('make no step that is equal to the one before, however it is written', () => {
    const { where } = renderAt(<Part changes={[{ q: 'a b' }]} push />, { at: '/start' })
    press('change')
    press('change')
    press('back')
    expect(where()).toBe('/start')
    const other = renderAt(<Part changes={[{ q: 'a b' }]} push />, { at: '/list?q=a%20b' })
    fireEvent.click(other.getAllByRole('button', { name: 'change' }).at(-1)!)
    expect(other.where()).toBe('/list?q=a%20b')
  })

  it('are read at once: a field that is kept in them takes each key', async () => {
    function Field() {
      const { query, change } = useAddress()
      return (
        <input aria-label="find" value={query.get('q') ?? ''} onChange={event => change({ q: event.target.value })} />
      )
    }
    const { user, where } = renderAt(<Field />, { at: '/list' })
    await user.type(screen.getByLabelText('find'), 'long words')
    expect(screen.getByLabelText('find')).toHaveProperty('value', 'long words')
    expect(where()).toBe('/list?q=long+words')
  })

  it('are left alone by a page that was left', async () => {
    let late: (changes: AddressChange) => void = () => {}
    function Here() {
      late = useAddress().change
      const navigate = useNavigate()
      return <button onClick={() => void navigate('/elsewhere')}>leave</button>
    }
    const { where } = renderAt(<Here />, { at: '/list', route: '/list' })
    press('leave')
    await act(async () => late({ page: 2 }))
    expect(where()).toBe('/elsewhere')
  })

  it.each(['0', '-1', '1.5', '1e3', ' 2', '2 ', '٣', '99999999999', '2147483648', 'NaN', '', "1' or 1=1"])(
    'are no number where they say %j',
    text => expect(numberIn(new URLSearchParams({ page: text }), 'page')).toBeUndefined()
  )
})

describe('the page and size of a list in the address', () => {
  function List() {
    const { page, size, offset, setPage, setSize } = useAddressPaging(20, { name: 'proxy', sizes: [10, 20, 50] })
    return (
      <>
        <p>{`page ${page} of ${size} from ${offset}`}</p>
        <button onClick={() => setPage(4)}>four</button>
        <button onClick={() => setPage(1)}>one</button>
        <button onClick={() => setSize(50)}>fifty</button>
      </>
    )
  }

  it('are read from it, and written to it', () => {
    const { where } = renderAt(<List />, { at: '/list?proxy_page=3&proxy_size=10&page=9' })
    expect(screen.getByText('page 3 of 10 from 20')).toBeTruthy()
    press('four')
    expect(where()).toBe('/list?proxy_page=4&proxy_size=10&page=9')
    press('fifty')
    expect(where()).toBe('/list?proxy_size=50&page=9')
    expect(screen.getByText('page 1 of 50 from 0')).toBeTruthy()
    press('four')
    press('one')
    expect(where()).toBe('/list?proxy_size=50&page=9')
  })

  it.each(['proxy_page=-2&proxy_size=1000000', 'proxy_page=abc&proxy_size=', 'proxy_page=1000001&proxy_size=15'])(
    'are the first page of the usual size where it says %s',
    text => {
      renderAt(<List />, { at: `/list?${text}` })
      expect(screen.getByText('page 1 of 20 from 0')).toBeTruthy()
    }
  )
})
