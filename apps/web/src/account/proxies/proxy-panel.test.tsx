import { screen, waitFor } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { orders } from '../../api/routes.ts'
import { answer, answerLost, answerRefused, requestsOf } from '../../testing/answers.ts'
import { order } from '../../testing/shapes.ts'
import { lastCopy, LINES, open, other, proxy, show } from './proxies.fixture.tsx'

describe('passwords', () => {
  it('are hidden, but copied', async () => {
    show(order, proxy, other)
    const { user, copied } = open()
    await user.click(await screen.findByRole('button', { name: 'Copy 198.51.100.7:1080' }))
    await waitFor(() => expect(lastCopy(copied)).toBe(LINES[0]))
    expect(document.body.textContent).not.toContain('s3cret')
    await user.click(screen.getByRole('button', { name: 'Show the password of 198.51.100.7:1080', pressed: false }))
    expect(screen.getAllByText('s3cret')).toHaveLength(1)
    await user.click(screen.getByRole('button', { name: 'Show passwords', pressed: false }))
    expect(screen.getAllByText('s3cret')).toHaveLength(2)
    expect(sessionStorage.getItem('netlet-passwords-shown')).toBe('1')
    await user.click(screen.getByRole('button', { name: 'Show passwords', pressed: true }))
    expect(screen.queryByText('s3cret')).toBeNull()
  })
})

describe('copy and export', () => {
  it('take the chosen format, which the device remembers', async () => {
    show(order, proxy, other)
    answer(orders.copyProxies, { proxy_lines: LINES, proxy_count: 2 })
    const { user, copied } = open()
    await screen.findByText('198.51.100.7:1080')
    await user.selectOptions(screen.getByRole('combobox', { name: 'Format' }), 'socks5://user:pass@ip:port')
    await user.click(screen.getByRole('button', { name: 'Copy' }))
    await waitFor(() =>
      expect(lastCopy(copied)).toBe('socks5://u7:s3cret@198.51.100.7:1080\nsocks5://u7:s3cret@[2001:db8::7]:1080')
    )
    expect(await screen.findByText('Copied to clipboard!')).toBeTruthy()
    expect(localStorage.getItem('netlet-proxy-format')).toContain('socks5')
  })

  it('show what an own template makes of the first proxy, without its password', async () => {
    show(order, proxy)
    answer(orders.copyProxies, { proxy_lines: LINES, proxy_count: 2 })
    const { user, copied } = open()
    await screen.findByText('198.51.100.7:1080')
    await user.selectOptions(screen.getByRole('combobox', { name: 'Format' }), 'Custom template')
    const field = screen.getByRole('textbox', { name: 'Template' })
    await user.clear(field)
    await user.type(field, '{{n}={{user}:{{pass}')
    expect(screen.getByRole('status', { name: 'Preview' }).textContent).toBe('1=u7:••••••••')
    await user.click(screen.getByRole('button', { name: 'Copy' }))
    await waitFor(() => expect(lastCopy(copied)).toBe('1=u7:s3cret\n2=u7:s3cret'))
  })

  it('take what the filters match, on all pages, and name the number', async () => {
    answer(orders.proxyDetail, ({ query }) => {
      const next = query['limit'] === '20' || query['after'] ? null : 'more'
      const rows = query['after'] ? [other] : [proxy]
      return { proxy_list: rows, order, total: 2, total_exact: true, limit: 20, offset: 0, next }
    })
    answer(orders.copyProxies, { proxy_lines: [...LINES, '198.51.100.8:1080:u7:s3cret'], proxy_count: 3 })
    const { user, copied } = open(order, '/dashboard/index/proxies?order=7&proxy_status=available')
    await user.click(await screen.findByRole('button', { name: 'Copy 2' }))
    await waitFor(() => expect(lastCopy(copied)).toBe(LINES.join('\n')))
    expect(requestsOf(orders.proxyDetail).at(-1)?.query).toEqual({ limit: '10000', after: 'more', status: 'available' })
    expect(screen.getByRole('button', { name: 'Export 2' })).toBeTruthy()
    // Nothing is not all.
    show(order)
    await user.click(screen.getByRole('button', { name: 'Copy 2' }))
    expect(await screen.findAllByText('No proxy data found')).toBeTruthy()
    expect(copied).toHaveBeenCalledOnce()
  })

  it('take only the selected ones, as they are now', async () => {
    show(order, proxy, other)
    const { user, copied } = open()
    await user.click(await screen.findByRole('checkbox', { name: 'Select [2001:db8::7]:1080' }))
    // The password was changed elsewhere.
    answer(orders.copyProxies, { proxy_lines: LINES.map(line => line.replace('s3cret', 'n3w')), proxy_count: 2 })
    await user.click(screen.getByRole('button', { name: 'Copy 1' }))
    await waitFor(() => expect(lastCopy(copied)).toBe('[2001:db8::7]:1080:u7:n3w'))
    await user.click(screen.getByRole('checkbox', { name: 'Select all on this page' }))
    expect(screen.getByRole('button', { name: 'Export 2' })).toBeTruthy()
    await user.click(screen.getByRole('button', { name: 'Clear selection' }))
    expect(screen.getByRole('button', { name: 'Export' })).toBeTruthy()
    // The pressed button is gone, and the focus has moved on.
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Copy' }))
  })

  it.each([
    [
      'no lines',
      () => answer(orders.exportProxies, { proxy_lines: [], proxy_count: 0, filename: '' }),
      'No proxy data found'
    ],
    ['a refusal', () => answerRefused(orders.exportProxies, 'no_proxies'), 'No proxy data found'],
    ['no answer', () => answerLost(orders.exportProxies), 'Failed to get proxy data']
  ])('say what is wrong: %s', async (_, failing, words) => {
    show(order, proxy)
    failing()
    const { user } = open()
    await screen.findByText('198.51.100.7:1080')
    await user.click(screen.getByRole('button', { name: 'Export' }))
    expect(await screen.findByText(words)).toBeTruthy()
  })

  it('say that nothing was copied: no answer, no clipboard', async () => {
    show(order, proxy)
    answerLost(orders.copyProxies)
    const { user } = open()
    await screen.findByText('198.51.100.7:1080')
    await user.click(screen.getByRole('button', { name: 'Copy' }))
    expect(await screen.findByText(/^Copy failed: /)).toBeTruthy()
    answer(orders.copyProxies, { proxy_lines: LINES, proxy_count: 2 })
    vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new DOMException('refused'))
    document.execCommand = () => false
    await user.click(screen.getByRole('button', { name: 'Copy' }))
    expect(await screen.findByText('Failed to copy to clipboard')).toBeTruthy()
  })

  it('write a file of that format', async () => {
    show(order, proxy)
    answer(orders.exportProxies, { proxy_lines: LINES, proxy_count: 2, filename: 'order_7_proxies.txt' })
    localStorage.setItem('netlet-proxy-format', '{"format":"csv"}')
    let saved: Blob | undefined
    vi.spyOn(URL, 'createObjectURL').mockImplementation(blob => {
      saved = blob as Blob
      return 'blob:x'
    })
    const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      expect(this.download).toBe('order_7_proxies.csv')
    })
    const { user } = open()
    await screen.findByText('198.51.100.7:1080')
    await user.click(screen.getByRole('button', { name: 'Export' }))
    await waitFor(() => expect(click).toHaveBeenCalledOnce())
    expect(await saved?.text()).toBe(
      'ip,port,username,password\r\n198.51.100.7,1080,u7,s3cret\r\n2001:db8::7,1080,u7,s3cret\n'
    )
  })
})

describe('the list', () => {
  it('is filtered by address, status and site, sorted by a head, and begins at its first page then', async () => {
    show(order, proxy)
    const { user, where } = open(order, '/dashboard/index/proxies?proxy_page=2&order=7')
    await screen.findByText('198.51.100.7:1080')
    await user.selectOptions(screen.getByRole('combobox', { name: 'Status' }), 'Not available')
    await user.selectOptions(screen.getByRole('combobox', { name: 'Site' }), 'Cannot reach Bing')
    await user.type(screen.getByRole('searchbox', { name: 'Find an address' }), '198.51')
    await user.click(screen.getByRole('button', { name: 'Google' }))
    await waitFor(() =>
      expect(requestsOf(orders.proxyDetail).at(-1)?.query).toEqual({
        limit: '20',
        offset: '0',
        search: '198.51',
        status: 'unavailable',
        silent: 'bing',
        sort_by: 'google_delay',
        sort_order: 'asc'
      })
    )
    expect(screen.getByRole('columnheader', { name: 'Google' }).getAttribute('aria-sort')).toBe('ascending')
    // The router renders a new address slightly later.
    await waitFor(() =>
      expect(Object.fromEntries(new URL(where(), 'http://shop').searchParams)).toEqual({
        order: '7',
        proxy_status: 'unavailable',
        proxy_site: 'silent:bing',
        proxy_q: '198.51',
        proxy_sort: 'google_delay'
      })
    )
  })

  it('are cleared where no proxy matches, and the sorting stays', async () => {
    show(order)
    const filters = 'proxy_status=unavailable&proxy_site=silent%3Abing&proxy_q=198.51'
    const { user } = open(order, `/dashboard/index/proxies?order=7&${filters}&proxy_sort=google_delay`)
    await user.click(await screen.findByRole('button', { name: 'Clear filters' }))
    await waitFor(() =>
      expect(requestsOf(orders.proxyDetail).at(-1)?.query).toEqual({
        limit: '20',
        offset: '0',
        sort_by: 'google_delay',
        sort_order: 'asc'
      })
    )
  })

  it('reads an address that says what cannot be as one that says nothing', async () => {
    show(order, proxy)
    open(order, '/dashboard/index/proxies?order=7&proxy_status=none&proxy_site=silent%3Aeverybody&proxy_sort=-password')
    await screen.findByText('198.51.100.7:1080')
    expect(requestsOf(orders.proxyDetail).at(-1)?.query).toEqual({ limit: '20', offset: '0' })
  })
})
