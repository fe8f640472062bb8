import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type Pair, certificateMaker } from '../../testing/certificates.ts'
import { createAgentClient } from './client.ts'

const maker = certificateMaker()
afterAll(() => maker.remove())

/** The tokens that machines received. */
let tokens: (string | undefined)[] = []
beforeEach(() => void (tokens = []))

/** A machine that shows this certificate. */
async function listen({ certificate: cert, key }: Pair, port = 0): Promise<{ port: number; close: () => void }> {
  const server: Server = createServer({ cert, key }, (request, response) => {
    tokens.push(request.headers.authorization)
    response.end('{"saved":true}')
  })
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close }
}

const VIA = ['the network', 'a channel of its own'] as const
type Via = (typeof VIA)[number]

const call = (certificate: string, port: number, via: Via) => {
  const address = { host: '127.0.0.1', port, token: 'secret', certificate }
  const dial = async () => connect(port, '127.0.0.1')
  return createAgentClient(via === 'the network' ? address : { ...address, dial }).putToken('new-token')
}

const leafOf = ({ certificate }: Pair): string =>
  certificate.slice(0, certificate.indexOf('-----END')).concat('-----END CERTIFICATE-----')
const SENT = 'Bearer secret'

test.each(VIA)('over %s, only the pinned certificate gets the token, no matter who issued it', async via => {
  const [own, other] = [maker.signed(['DNS:agent.test']), maker.signed(['DNS:other.test'])]
  const { port, close } = await listen(own)
  for (const pinned of [own.certificate, leafOf(own)])
    // The second call resumes the session of the first.
    for (const _again of [1, 2]) expect(await call(pinned, port, via)).toMatchObject({ ok: true })
  expect(tokens).toEqual([SENT, SENT, SENT, SENT])
  // The authority's own certificate says nothing about which machine this is.
  expect(await call(maker.authority.certificate, port, via)).toMatchObject({ ok: false, kind: 'failed' })
  expect(await call(`${maker.authority.certificate}\n${leafOf(own)}`, port, via)).toMatchObject({
    ok: false,
    message: 'The agent shows another certificate than the first one saved for it'
  })
  close()
  await listen(other, port)
  for (const pinned of [own.certificate, leafOf(own)])
    expect(await call(pinned, port, via)).toMatchObject({ ok: false, kind: 'failed' })
  expect(tokens).toHaveLength(4)
})

test.each(VIA)('over %s, a self-signed certificate works until it is renewed', async via => {
  const names: string[] = []
  const [own, renewed] = [maker.selfSigned(names), maker.selfSigned(names)]
  const { port, close } = await listen(own)
  expect(await call(own.certificate, port, via)).toMatchObject({ ok: true })
  close()
  await listen(renewed, port)
  expect(await call(own.certificate, port, via)).toMatchObject({ ok: false, kind: 'failed' })
  expect(await call(renewed.certificate, port, via)).toMatchObject({ ok: true })
  expect(tokens).toEqual([SENT, SENT])
})

test.each(VIA)('over %s, a certificate that cannot be read is a failure', async via => {
  const { port } = await listen(maker.selfSigned([]))
  const broken = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----'
  expect(await call(broken, port, via)).toMatchObject({ ok: false, kind: 'failed' })
  expect(tokens).toEqual([])
})
