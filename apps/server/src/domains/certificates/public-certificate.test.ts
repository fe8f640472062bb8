import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY } from '../../infra/clock.ts'
import { certificateMaker } from '../../testing/certificates.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { findCertificates, readPublicCertificate } from './ending-certificates.ts'

let shop: TestShop
let server: Server
let url: string

const maker = certificateMaker()
const make = (days: number) => {
  const { certificate: cert, key } = maker.selfSigned(['IP:127.0.0.1'], ['-days', String(days)])
  return { cert, key }
}

beforeAll(async () => {
  server = createServer(make(10))
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  shop = await startTestShop({ routes: () => {} })
})
afterAll(async () => {
  await shop?.close()
  server?.close()
  maker.remove()
})

const at = (publicUrl: string) => ({ ...shop.ctx, config: { ...shop.ctx.config, publicUrl } })
const found = (publicUrl: string, days: number) => findCertificates(at(publicUrl), shop.ctx.now(), days)

test('the certificate that visitors are shown raises a notice before it ends, until another one is there', async () => {
  await readPublicCertificate(at(url))
  expect(await found(url, 9)).toEqual([])
  expect(await found(url, 14)).toMatchObject([{ subject: 'public', words: 'certificate_public', params: { url } }])
  shop.advance(9.5 * DAY)
  expect(await found(url, 14)).toMatchObject([{ severity: 'critical' }])
  const next = make(90)
  server.setSecureContext(next)
  await readPublicCertificate(at(url))
  expect(await found(url, 14)).toEqual([])
  expect(await found(url, 365)).toMatchObject([
    { params: { ends: new X509Certificate(next.cert).validToDate.toISOString() } }
  ])
})

test('an address that does not answer changes nothing, another address or one without TLS has no certificate', async () => {
  await readPublicCertificate(at(url))
  expect(await found('https://shop.example.com', 365)).toEqual([])
  server.close()
  await readPublicCertificate(at(url))
  expect(await found(url, 365)).toHaveLength(1)
  await readPublicCertificate(at('http://127.0.0.1:1'))
  expect(await found(url, 365)).toEqual([])
})
