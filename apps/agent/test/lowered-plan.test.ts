// A plan with fewer connections: open ones stay until they end, and no process lets a new one in above the limit.
import { expect, test } from 'vitest'
import { isLong } from '../../../scripts/testing/tier.ts'
import { isLinux } from './process.ts'
import { servingAgent } from './takeovers.ts'
import { echoTarget, floodTarget, lease, type RawClient, tcpTarget, tunnel, until } from './test-agent.ts'

test.runIf(isLinux)(
  'a smaller plan leaves open connections, also in a takeover, and lets none in above it',
  async () => {
    const { agent, call, ip, takeOver } = await servingAgent({ AGENT_WORKERS: '2' })
    const echo = await echoTarget()
    const status = async (): Promise<number> => {
      const { status: came, rawClient } = await tunnel(ip, agent.proxyPort, 'u', echo.host)
      rawClient.socket.destroy()
      return came
    }
    await lease(call, 'u', [`${ip}/32`], { limits: { connections: 12 } })
    const open: RawClient[] = []
    for (let n = 0; n < 10; n++) {
      const { status: came, rawClient } = await tunnel(ip, agent.proxyPort, 'u', echo.host)
      expect(came).toBe(200)
      open.push(rawClient)
    }
    await lease(call, 'u', [`${ip}/32`], { limits: { connections: 3 } })
    // A worker that learns of the limit while it dials closes the connection.
    await until('all workers to know', async () => (await status().catch(() => 0)) === 429)
    for (let n = 0; n < 8; n++) expect(await status()).toBe(429)
    expect((await takeOver())['takeover']).toMatchObject({ state: 'none', reason: null })
    // The new process knows the limit before it accepts a connection.
    for (let n = 0; n < 12; n++) expect(await status()).toBe(429)
    await until(
      'all of them, and no others',
      async () => Number((await call('GET', '/api/connections')).json['total']) === 10
    )
    for (const [n, client] of open.entries()) {
      client.send(`still ${n}`)
      await client.take(new RegExp(`still ${n}`))
    }
    for (const client of open.slice(2)) client.socket.destroy()
    await until('room for one', async () => (await status()) === 200)
    expect(open.slice(0, 2).map(({ closed }) => closed)).toEqual([false, false])
  }
)

// Measures speed over seconds.
if (isLong && isLinux)
  test('after a takeover a new download has what an old flow leaves of the speed', async () => {
    const { agent, call, ip, takeOver } = await servingAgent({ AGENT_WORKERS: '0' })
    // A source of 2.4 Mbit/s, and one that sends as fast as it can.
    const slow = await tcpTarget(socket => {
      const timer = setInterval(() => socket.write(Buffer.alloc(30_000)), 100)
      socket.on('close', () => clearInterval(timer))
    })
    const fast = await floodTarget()
    await lease(call, 'u', [`${ip}/32`], { limits: { mbps: 8 } })
    const old = (await tunnel(ip, agent.proxyPort, 'u', slow.host)).rawClient
    await takeOver()
    let bytes = 0
    const { rawClient } = await tunnel(ip, agent.proxyPort, 'u', fast.host)
    rawClient.socket.removeAllListeners('data')
    rawClient.socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
    // Each process uses the full speed until both have reported. A busy machine may slow one second down.
    let inTurn = 0
    await until('most of what is left, and no more, for two seconds', async () => {
      const [before, began] = [bytes, performance.now()]
      await until('a second', () => performance.now() - began > 1000)
      const mbps = ((bytes - before) * 8) / 1000 / (performance.now() - began)
      inTurn = mbps > 4.8 && mbps < 7.6 ? inTurn + 1 : 0
      return inTurn === 2
    })
    expect(old.closed).toBe(false)
    rawClient.socket.destroy()
    old.socket.destroy()
  }, 120_000)
