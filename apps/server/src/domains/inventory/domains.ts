import { isIPv4 } from 'node:net'
import { domainToASCII } from 'node:url'
import { parse } from 'tldts'

export type DomainLine = {
  /** From 1. */
  line: number
  text: string
  message: string
}

export type ParsedDomains = { ok: true; domains: string[] } | { ok: false; lines: DomainLine[] }

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

/**
 * Reads a rule's lines: one domain each, which includes its subdomains. Blank lines and comments after `#` are left
 * out. A scheme, a leading `*.` or `.`, a closing slash and a closing dot are removed, and other scripts become
 * punycode. The result is lower case, distinct and ascending. All lines that are no domain are named.
 */
export function parseDomains(aclValue: string): ParsedDomains {
  const domains = new Set<string>()
  const lines: DomainLine[] = []
  for (const [at, raw] of aclValue.split(/\r\n|\r|\n/).entries()) {
    const text = raw.replace(/#.*/, '').trim()
    if (text === '') continue
    const read = readDomain(text)
    if (read.ok) domains.add(read.domain)
    else lines.push({ line: at + 1, text, message: `Line ${at + 1}: '${text.slice(0, 80)}' ${read.problem}` })
  }
  if (lines.length === 0 && domains.size === 0) {
    return { ok: false, lines: [{ line: 1, text: '', message: 'Enter at least one domain' }] }
  }
  return lines.length > 0 ? { ok: false, lines } : { ok: true, domains: [...domains].toSorted() }
}

function readDomain(text: string): { ok: true; domain: string } | { ok: false; problem: string } {
  const bare = text
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/\/$/, '')
    .replace(/^(\*\.|\.)+/, '')
    .replace(/\.$/, '')
  if (/[/?]/.test(bare)) return { ok: false, problem: 'has a path, but a rule covers whole domains' }
  if (/:\d*$/.test(bare)) return { ok: false, problem: 'has a port, but a rule covers whole domains' }
  const plain = bare.toLowerCase()
  if (isIPv4(plain)) return { ok: true, domain: plain }
  // ASCII is not converted, because the conversion turns numbers into addresses.
  // oxlint-disable-next-line no-control-regex
  const domain = /^[\x00-\x7f]*$/.test(plain) ? plain : domainToASCII(plain)
  const valid = domain.length <= 253 && domain.split('.').every(part => label.test(part)) && !/(^|\.)\d+$/.test(domain)
  if (!valid) return { ok: false, problem: 'is not a domain, such as example.com' }
  const { isIcann, publicSuffix } = parse(domain)
  return isIcann && publicSuffix === domain
    ? { ok: false, problem: 'is a public suffix, so a rule for it would cover every site below it' }
    : { ok: true, domain }
}

/** The domains above this one: 'a.b.c' → 'b.c', 'c'. */
export function parentsOf(domain: string): string[] {
  const parents: string[] = []
  for (let dot = domain.indexOf('.'); dot !== -1; dot = domain.indexOf('.', dot + 1))
    parents.push(domain.slice(dot + 1))
  return parents
}
