import { onlineManager, useQuery } from '@tanstack/react-query'
import { act, screen, waitFor } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { failureText } from '../i18n/failures.ts'
import { answer, answerLost, hold, requestsOf } from '../testing/answers.ts'
import { ErrorState } from '../kit/states.tsx'
import { renderAt } from '../testing/render.tsx'
import { order, pageOf } from '../testing/shapes.ts'
import { mayTryAgain, read, refresh } from './query.ts'
import { orders } from './routes.ts'

function Shown() {
  const { data } = useQuery(read(orders.list))
  return <p>{data?.total}</p>
}
const changed = () =>
  act(async () => {
    void refresh(orders.list)
  })
const asked = () => requestsOf(orders.list).length

describe('reading again what changed', () => {
  it('lets a slow read end where changes keep coming, and reads once more', async () => {
    answer(orders.list, pageOf(order))
    renderAt(<Shown />)
    await screen.findByText('1')
    const arrive = hold(orders.list)
    await changed()
    await waitFor(() => expect(asked()).toBe(2))
    await changed()
    await changed()
    expect(asked()).toBe(2)
    arrive(pageOf(order, { ...order, id: 8 }))
    await screen.findByText('2')
    await waitFor(() => expect(asked()).toBe(3))
  })

  it('reads once more where the first read was out when the change came', async () => {
    const arrive = hold(orders.list)
    renderAt(<Shown />)
    await changed()
    arrive(pageOf(order))
    await waitFor(() => expect(asked()).toBe(2))
  })
})

describe('reading without a connection', () => {
  function Read() {
    const { data, error, isPending } = useQuery(read(orders.list))
    return <p>{isPending ? 'waiting' : error ? failureText(error) : `${data.total} orders`}</p>
  }

  it('says so at once, and reads when there is one again', async () => {
    onlineManager.setOnline(false)
    answerLost(orders.list)
    renderAt(<Read />)
    await screen.findByText('You are offline. Please try again when you are back online.')
    expect(asked()).toBe(1)
    answer(orders.list, pageOf(order))
    await act(async () => onlineManager.setOnline(true))
    await screen.findByText('1 orders')
  })
})

describe('a server that says nothing', () => {
  it('is given two chances, and within a minute the screen says so and can try again', async () => {
    const limits: number[] = []
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(milliseconds => {
      limits.push(milliseconds)
      return AbortSignal.abort(new DOMException('silence', 'TimeoutError'))
    })
    answerLost(orders.list)
    function Listed() {
      const { error, refetch } = useQuery({ ...read(orders.list), retry: mayTryAgain, retryDelay: 0 })
      return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <p>waiting</p>
    }
    const { user } = renderAt(<Listed />)
    expect((await screen.findByRole('alert')).textContent).toContain('The shop took too long to respond')
    expect(limits).toHaveLength(2)
    expect(limits.reduce((sum, limit) => sum + limit, 0)).toBeLessThan(55_000)
    vi.restoreAllMocks()
    answer(orders.list, pageOf(order))
    await user.click(screen.getByRole('button', { name: 'Try again' }))
    await waitFor(() => expect(screen.queryByRole('alert')).toBeNull())
  })
})
