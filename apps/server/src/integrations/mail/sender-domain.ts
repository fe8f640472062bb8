import { answered, resolverOf } from '../name-servers.ts'
import { getDomain } from 'tldts'
import { startOf } from '../../infra/text.ts'

/** `unknown`: the name server did not answer. */
export type RecordState = 'ok' | 'missing' | 'wrong' | 'unknown'
/** `name` is where it stands in DNS; `found` what stands there, null where nothing does. */
export type DomainRecord = { state: RecordState; name: string; found: string | null }
export type SenderDomain = { domain: string; spf: DomainRecord; dkim: DomainRecord; dmarc: DomainRecord }

type Options = {
  /** Who has to be allowed to send, as SPF's `include:` names it; null: any sender will do. */
  include: string | null
  /** Where the mail service puts its key, one name after the other: `<selector>._domainkey.<domain>`. */
  selectors: readonly string[]
  /** Where a key's name leads (CNAME) of a domain whose return path is the mail service's own; null: the service has none. */
  delegate?: string | null
  /** Name servers instead of the system's, as `address` or `address:port`. */
  servers: readonly string[]
  /** For one question. Default 3 s. */
  timeoutMs?: number
}

const FOUND_LENGTH = 500

/**
 * Looks at what others look at when they judge mail of this domain: who may send (SPF, RFC 7208), the key of the signatures
 * (DKIM, RFC 6376), and what to do with the rest (DMARC, RFC 7489). It never throws.
 */
export async function checkSenderDomain(
  domain: string,
  { include, selectors, delegate = null, servers, timeoutMs = 3000 }: Options
): Promise<SenderDomain> {
  const resolver = resolverOf(servers, timeoutMs)
  const texts = (name: string) =>
    answered(resolver.resolveTxt(name).then(records => records.map(parts => parts.join(''))))
  const leadsTo = (name: string) => answered(resolver.resolveCname(name))
  const [found, returnPath, dkim, dmarc] = await Promise.all([
    texts(domain),
    delegate === null ? null : findDelegation(domain, selectors, { delegate, leadsTo }),
    findKey(domain, selectors, texts),
    findPolicy(domain, texts)
  ])
  return {
    domain,
    spf:
      typeof returnPath === 'string'
        ? judgeDelegated(domain, found, returnPath)
        : judgeOwn(domain, found, { include, isKnown: returnPath === null }),
    dkim,
    dmarc
  }
}

const record = (state: RecordState, name: string, found: readonly string[] | null): DomainRecord => ({
  state,
  name,
  found: found && found.length > 0 ? startOf(found.join('\n'), FOUND_LENGTH) : null
})

function judgeSpf(name: string, found: readonly string[] | null, include: string | null): DomainRecord {
  if (!found) return record('unknown', name, null)
  const policies = found.filter(text => /^v=spf1(\s|$)/i.test(text))
  if (policies.length === 0) return record('missing', name, null)
  // Two of them are an error for whoever judges.
  const [policy = ''] = policies
  const terms = policy.toLowerCase().split(/\s+/)
  const allowed = include === null || terms.some(term => term.replace(/^\+/, '') === `include:${include}`)
  // Who lets everybody send says nothing.
  const isOpen = terms.some(term => term === '+all' || term === 'all')
  return record(policies.length === 1 && allowed && !isOpen ? 'ok' : 'wrong', name, policies)
}

/**
 * Does the mail service keep keys and return path of this domain itself? SPF is asked of the return path's domain, RFC 7208, which is
 * one of the service's then. @returns the name that leads there, and where to; null: none does; undefined: nobody answered for one
 */
async function findDelegation(
  domain: string,
  selectors: readonly string[],
  { delegate, leadsTo }: { delegate: string; leadsTo: (name: string) => Promise<string[] | null> }
): Promise<string | null | undefined> {
  const names = selectors.map(selector => `${selector}._domainkey.${domain}`)
  const answers = await Promise.all(names.map(async name => ({ name, targets: await leadsTo(name) })))
  for (const { name, targets } of answers) {
    const target = targets?.find(one => one.toLowerCase().endsWith(`.${delegate}`))
    if (target) return `${name} CNAME ${target}`
  }
  return answers.some(({ targets }) => targets === null) ? undefined : null
}

/** What the domain itself says is not wrong where nobody knows whether the service keeps the return path. */
function judgeOwn(
  name: string,
  found: readonly string[] | null,
  { include, isKnown }: { include: string | null; isKnown: boolean }
): DomainRecord {
  const judged = judgeSpf(name, found, include)
  if (isKnown || judged.state === 'ok') return judged
  const ofAnybody = judgeSpf(name, found, null)
  return ofAnybody.state === 'wrong' ? ofAnybody : { ...judged, state: 'unknown' }
}

/** What the domain itself says need not name the service; it is wrong only where it would be of any domain. */
function judgeDelegated(name: string, found: readonly string[] | null, returnPath: string): DomainRecord {
  const judged = judgeSpf(name, found, null)
  return judged.state === 'wrong' ? judged : record('ok', name, [...(judged.found ? [judged.found] : []), returnPath])
}

/** RFC 7489: a domain without a policy has that of its organisation's domain. */
async function findPolicy(domain: string, texts: (name: string) => Promise<string[] | null>): Promise<DomainRecord> {
  const own = judgeDmarc(`_dmarc.${domain}`, await texts(`_dmarc.${domain}`))
  const organisation = getDomain(domain, { allowPrivateDomains: true })
  if (own.state !== 'missing' || organisation === null || organisation === domain) return own
  return judgeDmarc(`_dmarc.${organisation}`, await texts(`_dmarc.${organisation}`))
}

async function findKey(
  domain: string,
  selectors: readonly string[],
  texts: (name: string) => Promise<string[] | null>
): Promise<DomainRecord> {
  const names = selectors.map(selector => `${selector}._domainkey.${domain}`)
  const answers = await Promise.all(names.map(async name => ({ name, found: await texts(name) })))
  const keys = answers.filter(({ found }) => found?.some(text => /(^|;)\s*p=/i.test(text)))
  // An empty key was taken back.
  const valid = keys.find(({ found }) => found?.some(text => /(^|;)\s*p=\s*[a-z0-9+/]{16}/i.test(text)))
  const shown = valid ?? keys[0]
  if (shown) return record(valid ? 'ok' : 'wrong', shown.name, shown.found)
  const silent = answers.some(({ found }) => found === null)
  return record(silent ? 'unknown' : 'missing', names[0] ?? `_domainkey.${domain}`, null)
}

function judgeDmarc(name: string, found: readonly string[] | null): DomainRecord {
  if (!found) return record('unknown', name, null)
  const policies = found.filter(text => /^v=DMARC1\s*(;|$)/i.test(text))
  if (policies.length === 0) return record('missing', name, null)
  const valid = policies.length === 1 && /;\s*p\s*=\s*(none|quarantine|reject)\s*(;|$)/i.test(policies[0] ?? '')
  return record(valid ? 'ok' : 'wrong', name, policies)
}
