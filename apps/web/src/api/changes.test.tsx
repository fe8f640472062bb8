import { RESOURCES, routes, type Route } from '@netlet/contract'
import { act, screen, waitFor } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { useQuery } from '@tanstack/react-query'
import { answer, requestsOf } from '../testing/answers.ts'
import { renderAt } from '../testing/render.tsx'
import { order, pageOf } from '../testing/shapes.ts'
import { readsOf, refreshOnChange } from './changes.ts'
import { setFeedConnected, usePollInterval } from './feed-connected.ts'
import { read } from './query.ts'
import { accounts, inventory, orders, rewards, settings, support } from './routes.ts'

function Shown() {
  const list = useQuery(read(orders.list))
  const faqs = useQuery(read(support.faqs))
  const interval = usePollInterval(2500)
  return (
    <p>
      {list.data?.total} {faqs.data?.total} {interval}
    </p>
  )
}

/** Answers that depend on another resource. */
function Dependent() {
  const invited = useQuery(read(accounts.inviteLog))
  const invite = useQuery(read(accounts.inviteCode))
  const points = useQuery(read(rewards.pointRecords))
  const cidrs = useQuery(read(inventory.cidrs))
  const audit = useQuery(read(settings.audit))
  return (
    <p>
      {invited.data?.total} {invite.data?.coin_fraction} {points.data?.total} {cidrs.data?.total} {audit.data?.total}
    </p>
  )
}

/** Replaces EventSource, so that a test controls the events. */
function feedOfTest() {
  const sources: EventTarget[] = []
  vi.stubGlobal(
    'EventSource',
    class extends EventTarget {
      readyState = 1
      constructor() {
        super()
        sources.push(this)
      }
      close() {}
    }
  )
  return {
    send: (event: string, data?: unknown) =>
      act(() => void sources[0]?.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(data) })))
  }
}

describe('what changes', () => {
  it('names the calls that read each resource, and only calls that read', () => {
    const reading = Object.values(routes).flatMap(calls => Object.values(calls) as Route[])
    expect(Object.keys(readsOf).toSorted()).toEqual([...RESOURCES].toSorted())
    for (const { method, path } of Object.values(readsOf).flat()) {
      expect(reading.some(route => route.method === method && route.path === path)).toBe(true)
      expect(method === 'GET' || path.endsWith('/stock/'), path).toBe(true)
    }
  })

  it('is read again where it is shown, and nothing else is', async () => {
    answer(orders.list, pageOf(order))
    answer(support.faqs, pageOf())
    const feed = feedOfTest()
    renderAt(<Shown />)
    await screen.findByText('1 0 2500')
    const stop = refreshOnChange(1)
    feed.send('open')
    await screen.findByText('1 0 30000')
    answer(orders.list, pageOf(order, { ...order, id: 8 }))
    feed.send('change', {
      changes: [
        { resource: 'order', id: 8 },
        { resource: 'order', id: 7 }
      ]
    })
    await screen.findByText('2 0 30000')
    expect(requestsOf(orders.list)).toHaveLength(2)
    expect(requestsOf(support.faqs)).toHaveLength(1)

    answer(accounts.inviteLog, pageOf())
    answer(accounts.inviteCode, { invite_url: '', invite_code: '', coin_fraction: 0.5 })
    answer(rewards.pointRecords, pageOf())
    answer(inventory.cidrs, pageOf())
    answer(settings.audit, pageOf())
    renderAt(<Dependent />)
    await screen.findByText('0 0.5 0 0 0')
    feed.send('change', { changes: [{ resource: 'user', id: 1 }] })
    await waitFor(() => {
      expect(requestsOf(accounts.inviteLog)).toHaveLength(2)
      expect(requestsOf(accounts.inviteCode)).toHaveLength(2)
      expect(requestsOf(rewards.pointRecords)).toHaveLength(2)
      expect(requestsOf(settings.audit)).toHaveLength(2)
    })
    expect(requestsOf(inventory.cidrs)).toHaveLength(1)
    feed.send('change', { changes: [{ resource: 'order', id: 7 }] })
    await waitFor(() => {
      expect(requestsOf(inventory.cidrs)).toHaveLength(2)
      expect(requestsOf(settings.audit)).toHaveLength(3)
    })
    expect(requestsOf(rewards.pointRecords)).toHaveLength(2)
    expect(requestsOf(support.faqs)).toHaveLength(1)

    feed.send('reset')
    await waitFor(() => expect(requestsOf(support.faqs)).toHaveLength(2))
    feed.send('error')
    await screen.findByText('2 0 2500')
    stop()
    act(() => setFeedConnected(false))
  })

  it('is not read again after it is no longer followed', () => {
    vi.useFakeTimers()
    const feed = feedOfTest()
    const stop = refreshOnChange(1)
    feed.send('open')
    const before = vi.getTimerCount()
    feed.send('change', { changes: [{ resource: 'faq', id: 1 }] })
    expect(vi.getTimerCount()).toBe(before + 1)
    stop()
    expect(vi.getTimerCount()).toBe(0)
    act(() => setFeedConnected(false))
  })
})
