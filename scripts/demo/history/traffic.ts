import { request } from 'node:http'
import type { World } from './world.ts'
import type { Acts } from './acts.ts'

/** Orders whose proxies are used, and requests through each of them. */
const USED = 16
const REQUESTS = 3
const PATIENCE_MS = 1000

/**
 * Sends requests through proxies of the history, because the console shows only what the agent itself has counted.
 * Skipped if this machine cannot reach the demo's addresses.
 */
export async function useProxies(world: World, acts: Acts): Promise<void> {
  const list = '/api/orders/order_list/'
  const { data } = await acts.admin().call<{ data: { id: number }[] }>('GET', `${list}?state=delivered&limit=${USED}`)
  for (const { id } of data) {
    const path = `${list}${id}/copy_proxies/`
    const { proxy_lines } = await acts.admin().call<{ proxy_lines: string[] }>('GET', path)
    for (let nth = 0; nth < REQUESTS; nth++) {
      const line = proxy_lines[nth % proxy_lines.length]
      if (line && !(await through(line, `${world.platformUrl}/echo`))) return
    }
  }
}

/** @param line `ip:port:user:password` */
function through(line: string, url: string): Promise<boolean> {
  const [host, port, user, password] = line.split(':')
  return new Promise(done => {
    const asked = request({
      host,
      port,
      path: url,
      headers: {
        host: new URL(url).host,
        'proxy-authorization': `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
      },
      agent: false,
      timeout: PATIENCE_MS
    })
    asked.on('response', response => {
      response.resume()
      response.on('end', () => done(response.statusCode === 200))
    })
    asked.on('timeout', () => asked.destroy(new Error('timeout')))
    asked.on('error', () => done(false))
    asked.end()
  })
}
