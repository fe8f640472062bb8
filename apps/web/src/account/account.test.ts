import { onlineManager } from '@tanstack/react-query'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../api/client.ts'
import { exportFailure, fileName, linesOf } from './proxies/use-copy-and-export.ts'
import { fillOf, standingOf } from './rewards/page.tsx'

describe('export', () => {
  it('shows the words of the server where there are any', () => {
    expect(exportFailure(new ApiError('refused', 'Not yours', 403))).toBe('Not yours')
  })
  it.each([
    [401, 'Unauthorized: Please login again'],
    [403, 'Forbidden: No permission to access this order'],
    [404, 'Order not found or no proxy data'],
    [500, 'Server error: Please try again later'],
    [418, 'Failed to get proxy data (418)'],
    [0, 'Failed to get proxy data']
  ])('goes by status %d otherwise', (status, words) => {
    expect(exportFailure(new ApiError('refused', '', status))).toBe(words)
  })
  it('says that there is no connection where the browser knows it', () => {
    onlineManager.setOnline(false)
    expect(exportFailure(new ApiError('network', ''))).toBe(
      'You are offline. Please try again when you are back online.'
    )
  })
  it('tells an answer without lines from one that is malformed', () => {
    expect(linesOf({ proxy_lines: ['a:1:b:c'] })).toEqual(['a:1:b:c'])
    expect(() => linesOf({ proxy_lines: [] })).toThrow('No proxy data found')
    expect(() => linesOf(null)).toThrow('Invalid response format from server')
    expect(exportFailure(new ApiError('format', '', 200))).toBe('Invalid response format from server')
  })
  it('names the file', () => {
    expect(fileName(undefined, 7)).toBe('order_7_proxies.txt')
    expect(fileName('../a b.txt', 7)).toBe('.._a b.txt')
  })
})

describe('levels', () => {
  const thresholds = [5000, 100, 10_000, 50_000, 20_000]
  it.each([
    [0, 0, 100],
    [100, 1, 4900],
    [4999, 1, 1],
    [5000, 2, 5000],
    [20_000, 4, 30_000],
    [50_000, 5, 0]
  ])('%d points are level %d, with %d to go', (points, level, missing) => {
    expect(standingOf(points, thresholds)).toMatchObject({ level, missing })
  })
  it('misses nothing above the fifth level', () => expect(standingOf(60_000, thresholds).missing).toBe(0))
  it('fills the bar stretch by stretch', () => {
    expect(fillOf(2550, thresholds)).toEqual([1, 0.5, 0, 0, 0])
    expect(fillOf(0, [])).toEqual([])
  })
})
