import { answered, resolverOf } from '../name-servers.ts'
import { getDomain } from 'tldts'
import { startOf } from '../../infra/text.ts'

/** `unknown`: the name server did not answer. */
export type RecordState = 'ok' | 'missing' | 'wrong' | 'unknown'
/** `name` is the record's name in DNS; `found` its content, or null. */
export type DomainRecord = { state: RecordState; name: string; found: string | null }
export type SenderDomain = { domain: string; spf: DomainRecord; dkim: DomainRecord; dmarc: DomainRecord }

type Options = {
  /** The sender that SPF must allow, as in `include:`; null accepts any. */
  include: string | null
  /** Selectors of the mail service's keys: `<selector>._domainkey.<domain>`. */
  selectors: readonly string[]
  /** CNAME target of the key names if the mail service keeps the return path; null if it never does. */
  delegate?: string | null
  /** Name servers instead of the system's, as `address` or `address:port`. */
  servers: readonly string[]
  /** For one question. Default 3 s. */
  timeoutMs?: number
}

const FOUND_LENGTH = 500

/**
 * Checks what receivers check for mail of this domain: allowed senders (SPF, RFC 7208), the signing key (DKIM, RFC
 * 6376) and the policy for failures (DMARC, RFC 7489). It never throws.
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
  // Receivers treat two SPF records as an error.
  const [policy = ''] = policies
  const terms = policy.toLowerCase().split(/\s+/)
  const allowed = include === null || terms.some(term => term.replace(/^\+/, '') === `include:${include}`)
  // Allowing everyone proves nothing.
  const isOpen = terms.some(term => term === '+all' || term === 'all')
  return record(policies.length === 1 && allowed && !isOpen ? 'ok' : 'wrong', name, policies)
}

/**
 * Does the mail service keep the domain's return path? SPF is then checked for the service's domain (RFC 7208).
 * @returns the CNAME that shows it; null if there is none; undefined if a query failed
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

/** If the return path is unknown, only an SPF record that would be wrong for any service counts as wrong. */
function judgeOwn(
  name: string,
  found: readonly string[] | null,
  { include, isKnown }: { include: string | null; isKnown: boolean }
): DomainRecord {
  const judged = judgeSpf(name, found, include)
  if (isKnown || judged.state === 'ok') return judged
  const withoutInclude = judgeSpf(name, found, null)
  return withoutInclude.state === 'wrong' ? withoutInclude : { ...judged, state: 'unknown' }
}

/** The domain's own record need not name the service. It is wrong only if it would be wrong for any service. */
function judgeDelegated(name: string, found: readonly string[] | null, returnPath: string): DomainRecord {
  const judged = judgeSpf(name, found, null)
  return judged.state === 'wrong' ? judged : record('ok', name, [...(judged.found ? [judged.found] : []), returnPath])
}

/** RFC 7489: a domain without a policy uses the one of its organisation's domain. */
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
  // An empty key is revoked.
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
