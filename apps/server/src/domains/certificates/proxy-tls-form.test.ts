import { afterAll, describe, expect, test } from 'vitest'
import { certificateMaker } from '../../testing/certificates.ts'
import { httpsHost, wildcardLabel, nameToResolve } from './tls-offer.ts'
import { checkPair, describeChain } from './chain.ts'

const make = certificateMaker()
afterAll(() => make.remove())

const own = make.selfSigned(['DNS:*.proxy.test', 'DNS:proxy.test', 'IP:203.0.113.7'])
const other = make.selfSigned(['DNS:other.test'])
const chain = make.signed(['DNS:signed.test'])
const unnamed = make.selfSigned([])
// A time at which all of them are valid.
const NOW = new Date()
const blocks = chain.certificate.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []

describe('a pasted certificate', () => {
  test('is taken with its key, alone or with what signed it', () => {
    expect(checkPair(own.certificate, own.key, NOW)).toMatchObject({ ok: true })
    expect(checkPair(chain.certificate, chain.key, NOW)).toMatchObject({ ok: true })
    expect(describeChain(own.certificate)?.names).toEqual(['*.proxy.test', 'proxy.test', '203.0.113.7'])
  })

  test.each([
    ['what is no certificate', 'hello', own.key, 'certificate', 'tls_chain_unreadable'],
    ['a key among the certificates', `${own.certificate}\n${own.key}`, own.key, 'certificate', 'tls_chain_unreadable'],
    ['a chain in another order', blocks.toReversed().join('\n'), chain.key, 'certificate', 'tls_chain_order'],
    ['a stranger behind it', `${own.certificate}\n${other.certificate}`, own.key, 'certificate', 'tls_chain_order'],
    ['one that names nobody', unnamed.certificate, unnamed.key, 'certificate', 'tls_no_names'],
    ['no key', own.certificate, 'hello', 'key', 'tls_key_unreadable'],
    ['the key of another one', own.certificate, other.key, 'key', 'tls_key_mismatch']
  ])('is refused: %s', (_what, certificate, key, field, reason) => {
    const judged = checkPair(certificate, key, NOW)
    expect(judged).toMatchObject({ ok: false, reason, data: { errors: { [field]: expect.any(String) as string } } })
    expect(JSON.stringify(judged)).not.toContain('PRIVATE')
  })

  test('is refused before its time and past its end', () => {
    const at = (days: number) => checkPair(own.certificate, own.key, new Date(NOW.getTime() + days * 86_400_000))
    expect(at(31)).toMatchObject({ ok: false, reason: 'tls_not_valid', params: { number: 1 } })
    expect(at(-1)).toMatchObject({ ok: false, reason: 'tls_not_valid', params: { number: 1 } })
  })
})

describe('the name of a proxy', () => {
  test.each([
    ['203.0.113.7', '203-0-113-7'],
    ['2001:db8:0:1::1', '2001-db8-0-1--1'],
    ['2001:0DB8::', '2001-db8--0'],
    ['::1', '0--1']
  ])('below a wildcard is made of its address: %s', (address, label) => expect(wildcardLabel(address)).toBe(label))

  test.each([
    ['an address that is named itself', ['203.0.113.7', 'a.test'], {}, { host: '203.0.113.7', leads: true }],
    ['a name that leads there', ['a.test', 'b.test'], { 'b.test': ['203.0.113.7'] }, { host: 'b.test', leads: true }],
    [
      'a name that leads to several',
      ['a.test'],
      { 'a.test': ['203.0.113.7', '203.0.113.8'] },
      { host: 'a.test', leads: false }
    ],
    [
      'a wildcard that was looked up',
      ['*.a.test'],
      { '*.a.test': ['203.0.113.1'] },
      { host: '203-0-113-7.a.test', leads: true }
    ],
    ['a wildcard that leads nowhere', ['*.a.test'], { '*.a.test': [] }, { host: '203-0-113-7.a.test', leads: false }],
    ['a name that is nowhere', ['*.a.test', 'a.test'], {}, { host: 'a.test', leads: false }],
    ['no name', ['198.51.100.1'], {}, null]
  ])('is of the certificate: %s', (_what, names, leads, host) => {
    expect(httpsHost({ names, leads }, '203.0.113.7')).toEqual(host)
  })

  test('is what is looked up: for a wildcard the name of one address, and never an address', () => {
    expect(nameToResolve('*.a.test', '203.0.113.7')).toBe('203-0-113-7.a.test')
    expect(['a.test', '203.0.113.7', 'x*.a.test'].map(name => nameToResolve(name, '203.0.113.7'))).toEqual([
      'a.test',
      null,
      null
    ])
    expect(nameToResolve('*.a.test', null)).toBeNull()
  })
})
