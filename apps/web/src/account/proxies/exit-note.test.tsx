import type { Order } from '@netlet/contract'
import { screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { setWidth } from '../../testing/render.tsx'
import { order } from '../../testing/shapes.ts'
import { open as openPage, proxy, show } from './proxies.fixture.tsx'

const open = (of: Partial<Order>) => {
  show({ ...order, ...of }, { ...proxy, ip: '2001:db8:0:1::1', port: 3128, password: 'secret' })
  openPage({ ...order, ...of })
}
const COMMAND = "curl -x 'http://[2001:db8:0:1::1]:3128' -U 'u7-session-abc:secret' https://example.com"

describe('what is said of IPv6 proxies', () => {
  it('has a command for a session, with the address in brackets, on a phone too', async () => {
    setWidth(390)
    open({ address_family: 'ipv6', egress: 'session' })
    expect(await screen.findByText(/With -session-NAME behind the username/)).toBeTruthy()
    expect(await screen.findByText(COMMAND)).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Copy: Command' })).toBeTruthy()
    expect(screen.getByText('[2001:db8:0:1::1]:3128')).toBeTruthy()
  })

  it.each([
    ['fixed', 'Connections leave from the address of the proxy.'],
    ['request', 'Each connection to a site leaves from another address of the /64.']
  ] as const)('says what connections leave from: %s', async (egress, words) => {
    open({ address_family: 'ipv6', egress })
    expect(await screen.findByText(new RegExp(words))).toBeTruthy()
    expect(screen.queryByText(/^curl/)).toBeNull()
  })

  it('is nothing of an IPv4 order', async () => {
    open({})
    expect(await screen.findByText('[2001:db8:0:1::1]:3128')).toBeTruthy()
    expect(screen.queryByText(/IPv6/)).toBeNull()
  })
})
