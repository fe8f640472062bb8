import { useQuery } from '@tanstack/react-query'
import { act, screen, waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { answer, hold, requestsOf } from '../testing/answers.ts'
import { renderAt } from '../testing/render.tsx'
import { order, pageOf } from '../testing/shapes.ts'
import { read, refresh } from './query.ts'
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
