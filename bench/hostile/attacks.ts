import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTestClient } from '../../apps/server/src/testing/client.ts'
import type { Target } from './attackers.ts'

/** Goes on until the signal, and counts its requests. */
type Run = (over: AbortSignal, count: () => void) => Promise<void>
/** `begin` does what an attacker can do before the shop is busy. */
export type Attack = { name: string; begin: (shop: Target) => Promise<Run> }

const MIB = 1024 * 1024
const LOGIN = '/api/auth/login'
const WEBHOOK = '/api/orders/pay_webhook'

/** The same request, so many times at once, until the signal. A refusal or a broken connection is an answer. */
async function repeat(atOnce: number, over: AbortSignal, work: (n: number) => Promise<unknown>): Promise<void> {
  let n = 0
  const one = async () => {
    while (!over.aborted) {
      await work(n++).catch(() => sleep(10))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

/** 60 MB of small objects for each call: what made a process busy for 13 to 27 s. */
const agent: Attack = {
  name: 'answers of 60 MB by an agent',
  async begin(shop) {
    let asked = () => {}
    const reply = Buffer.from(`[${'{},'.repeat(20 * MIB)}{}]`)
    const server = createServer((request, response) => {
      asked()
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' }).end(reply)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const boss = createTestClient(shop.url)
    await boss.post(LOGIN, shop.admin)
    const { port } = server.address() as AddressInfo
    const added = await boss.post<{ id: number }>('/api/servers/servers/', {
      name: 'rented',
      ip: '127.0.0.1',
      cidr: '127.77.0.0/24',
      agent_port: port,
      agent_token: 'a-token-of-the-rented-machine'
    })
    if (added.code !== 2000) throw new Error(`no server: ${added.msg}`)
    return async (over, count) => {
      asked = count
      await repeat(2, over, async () => {
        await boss.get(`/api/servers/servers/${added.data.id}/live/`)
        await sleep(200)
      })
      server.closeAllConnections()
      server.close()
    }
  }
}

const webhooks: Attack = {
  name: 'webhooks of 8 MiB with a false signature',
  begin: async shop => async (over, count) => {
    const body = `[${'{},'.repeat(Math.floor((8 * MIB) / 3) - 10)}{}]`
    const headers = {
      'content-type': 'application/json',
      'x-shopify-hmac-sha256': Buffer.alloc(32).toString('base64'),
      'x-shopify-topic': 'orders/paid'
    }
    await repeat(4, over, async n => {
      const reply = await fetch(shop.url + WEBHOOK, {
        method: 'POST',
        headers: { ...headers, 'x-forwarded-for': `198.51.${n % 250}.1` },
        body,
        signal: over
      })
      await reply.text()
      count()
    })
  }
}

/** Bodies that stop one byte short. */
const halves: Attack = {
  name: 'bodies of 8 MiB that never end',
  begin: async shop => async (over, count) => {
    const { hostname, port } = new URL(shop.url)
    const chunk = Buffer.alloc(MIB, 0x20)
    await repeat(100, over, async n => {
      const socket: Socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      const ended = once(socket, 'close')
      socket.write(
        `POST ${WEBHOOK} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-forwarded-for: 203.0.${n % 250}.1\r\n` +
          `x-shopify-hmac-sha256: ${Buffer.alloc(32).toString('base64')}\r\ncontent-length: ${8 * MIB}\r\n\r\n`
      )
      for (let sent = 0; sent < 8 && !socket.destroyed; sent++)
        if (!socket.write(sent === 7 ? chunk.subarray(1) : chunk)) await Promise.race([once(socket, 'drain'), ended])
      count()
      await Promise.race([ended, sleep(20_000, undefined, { signal: over })])
      socket.destroy()
    })
  }
}

/** One account from 40 browsers that it knows, with right and wrong passwords. */
const account: Attack = {
  name: 'log-ins of one account from 40 known browsers',
  async begin(shop) {
    const browsers = Array.from({ length: 40 }, (_, n) => createTestClient(shop.url, { ip: `192.0.2.${n}` }))
    for (const browser of browsers) await browser.post(LOGIN, shop.customer)
    return (over, count) =>
      repeat(40, over, async n => {
        const password = n % 2 === 0 ? shop.customer.password : 'Wrong#2026'
        await browsers[n % 40]?.post(LOGIN, { ...shop.customer, password })
        count()
      })
  }
}

/** Each request comes from another /64 of one IPv6 /48. */
const addressOf = (n: number) => `2001:db8:bad:${(n % 65_536).toString(16)}::1`

const captchas: Attack = {
  name: 'captchas, 130 connections',
  begin: async shop => (over, count) =>
    repeat(130, over, async n => {
      await createTestClient(shop.url, { ip: addressOf(n) }).get('/api/auth/captcha')
      count()
    })
}

const codes: Attack = {
  name: 'codes for one address, from a /48',
  begin: async shop => (over, count) =>
    repeat(8, over, async n => {
      const ask = { email: 'victim@example.com', type: n % 2 === 0 ? 'register' : 'forgot' }
      await createTestClient(shop.url, { ip: addressOf(n) }).post('/api/users/email_validate', ask)
      count()
    })
}

const guesses: Attack = {
  name: 'guesses at the administrator, from a /48',
  begin: async shop => (over, count) =>
    repeat(8, over, async n => {
      await createTestClient(shop.url, { ip: addressOf(n) }).post(LOGIN, { ...shop.admin, password: `Wrong#${n}` })
      count()
    })
}

export const ATTACKS: readonly Attack[] = [agent, webhooks, halves, account, captchas, codes, guesses]
