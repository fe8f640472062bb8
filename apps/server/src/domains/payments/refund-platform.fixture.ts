import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the platform was asked to give back, each once. */
export type RefundMade = { platformOrderId: string; amount: string }

type Asked = {
  variables: { id?: string; key?: string; input?: { orderId: string; transactions: { amount: string }[] } }
}

/** A platform that knows every order, and gives back what it is asked for. It reports nothing: the test does. */
export async function startRefundPlatform() {
  const made: RefundMade[] = []
  const keys = new Set<string>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { variables } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Asked
      const { input, key = '' } = variables
      const sale = { id: 'gid://shopify/OrderTransaction/1', kind: 'SALE', status: 'SUCCESS', gateway: 'test' }
      if (input && !keys.has(key)) {
        keys.add(key)
        made.push({
          platformOrderId: input.orderId.replace('gid://shopify/Order/', ''),
          amount: input.transactions[0]?.amount ?? ''
        })
      }
      const data = input ? { refundCreate: { userErrors: [] } } : { order: { transactions: [sale] } }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    made,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}
