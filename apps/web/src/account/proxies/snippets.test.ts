import { describe, expect, it } from 'vitest'
import { MASK, snippetOf, TOOLS, toolsFor } from './formats.ts'

const words = { protocol: 'Protocol', server: 'Server', port: 'Port', username: 'Username', password: 'Password' }
const proxy = { ip: '2001:db8::7', port: 1080, username: 'alice7', password: 's3cret' }

describe('code that uses a proxy with a tool', () => {
  it.each(TOOLS)('%s: has address, port, user and password; the screen masks the password', tool => {
    const text = snippetOf(tool, proxy, words)
    for (const part of ['2001:db8::7', '1080', 'alice7', 's3cret']) expect(text).toContain(part)
    const shown = snippetOf(tool, proxy, words, { masked: true })
    expect(shown).not.toContain('s3cret')
    expect(shown).toBe(text.replace('s3cret', MASK))
  })

  it('are commands that a shell takes as they are', () => {
    expect(snippetOf('curl', proxy, words)).toBe(
      "curl -x 'http://alice7:s3cret@[2001:db8::7]:1080' https://example.com"
    )
  })

  it('are not broken by a quote in a password', () => {
    const quoted = { ...proxy, password: "a'b\\c" }
    expect(snippetOf('curl', quoted, words)).toContain(':a%27b%5Cc@')
    expect(snippetOf('wget', quoted, words)).toContain(`--proxy-password='a'\\''b\\c'`)
    expect(snippetOf('playwright', quoted, words)).toContain(`password: 'a\\'b\\\\c'`)
  })

  it('uses TLS by the name of the certificate, and the address if the name does not resolve to it', () => {
    const secure = { secure: true }
    const named = { ...proxy, https: { host: 'p.example.com', leads: true } }
    expect(snippetOf('curl', named, words, secure)).toBe(
      "curl --proxy 'https://alice7:s3cret@p.example.com:1080' https://example.com"
    )
    const elsewhere = { ...proxy, https: { host: 'p.example.com', leads: false } }
    expect(snippetOf('curl', elsewhere, words, secure)).toContain(" --resolve 'p.example.com:1080:[2001:db8::7]' ")
    for (const tool of toolsFor(named, true)) {
      const text = snippetOf(tool, named, words, secure)
      expect(text).toContain('p.example.com')
      expect(text).toMatch(/https:\/\/(alice7:s3cret@)?p\.|: HTTPS/)
      expect(text).not.toContain('2001:db8::7')
      expect(snippetOf(tool, named, words)).toContain('2001:db8::7')
    }
    expect(toolsFor(elsewhere, true)).toEqual(['curl'])
    expect(toolsFor(elsewhere, false)).toEqual(TOOLS)
    expect(toolsFor({ ...proxy, https: null }, true)).toEqual(TOOLS)
  })
})
