import { parseAuthority } from './request-head.ts'

/** Characters kept between pieces, so that a split name is found. Longer than a line up to the end of its name. */
const TAIL = 1024
/** Start of a request line, up to the scheme. Sites accept any scheme and any blanks before it. */
const METHOD = String.raw`[!-~]+[^!-~\r\n]+`
const HOST = String.raw`host[ \t]*:(?:[^!-~\r\n]|\r?\n(?=[ \t]))*`
const SCHEME = String.raw`[a-z][a-z\d+.-]*:\/\/`
const AT_LINE = String.raw`(?<![^\r\n])`
const ADDRESS = String.raw`[ \t]*${METHOD}${SCHEME}`
/**
 * A `Host` line with any blanks and folds, or a request line with an absolute address. The name must be complete. No part
 * matches what the next part may begin with, so a search looks at each byte once.
 */
const NAMED = new RegExp(String.raw`${AT_LINE}(?:${HOST}([!-~]\S*)(?=\s)|${ADDRESS}([^\s/?#]+)(?=[\s/?#]))`, 'gi')
/** The same request line directly after a body that has no line end. Other data rarely looks like this. */
const BEHIND_A_BODY = /[A-Z]{3}[^!-~\r\n]+[A-Za-z][A-Za-z\d+.-]*:\/\/([^\s/?#]+)(?=[\s/?#])/g
/** A name (with a part before `@`) that does not end within the kept characters. */
const ENDLESS = new RegExp(String.raw`${AT_LINE}(?:${HOST}(?=[!-~])|${ADDRESS})[^\s/?#]{${TAIL / 2},}$`, 'i')
const HEAD_END = /\n\r?\n/
/** A version in the first line, which may be split between pieces. Sites that take HTTP also accept its relatives' names. */
const VERSION = /\s(?:HTTP|RTSP|ICE)\/\d/i
const VERSION_LENGTH = 7
/** HTTP/2 without TLS, at once or after an `Upgrade`. Its names are compressed. */
const HTTP2_PREFACE = /PRI \* HTTP\/2/
/** What sites treat as blanks: Python also splits lines at ASCII and Latin-1 separators. */
const BLANK = String.raw`[\s\x1c-\x1f\x85]`
const BLANKS_BEFORE = new RegExp(`^${BLANK}+`)
/** A method and a blank. No other protocol has a line that is so long and begins so. */
const REQUEST_BEGINS = new RegExp(String.raw`^[\w!#$%&'*+.^|~\x60-]+${BLANK}`)
/** A method by name. Sites read names even after a line without a version, as in HTTP/0.9. */
const KNOWN_METHOD = new RegExp(`^[A-Za-z_-]+${BLANK}`)
const MAX_FIRST_LINE = 16_384

const LONGEST_NAME = 256
/** A run of scheme letters longer than any name. It matches only from the first letter; else each letter would be tried 256 times. */
const LONG_RUN = /(?<![a-z\d+.-])[a-z\d+.-]{257,}/gi
/** Blanks, and line ends inside a folded line. */
const BLANKS = /(?:[^!-~\r\n]|\r?\n(?=[ \t])){2,}/g

/** Finds host names in what a client sends through a tunnel without TLS: in all its requests, however the bytes are split. */
export class RequestNames {
  #tail = ''
  /** First line so far, its last characters, and the bytes received with it. */
  #first = ''
  #lastOfFirst = ''
  #firstBytes = 0
  /**
   * Protocol of the first line; `unknown` until it is complete. `maybe-http`: like a request without a version. Sites may read
   * what follows as requests, but other protocols have such lines too.
   */
  protocol: 'unknown' | 'http1' | 'maybe-http' | 'other' = 'unknown'
  /** Whether the names of requests cannot be read. */
  hidden = false
  /** Whether a request named a host by name, not by address. */
  named = false
  /** Whether the first request's head is complete. */
  headEnded = false

  /** Returns the names that this piece completes. */
  read(chunk: Buffer): string[] {
    const said = chunk.toString('latin1')
    // Empty lines and blanks may precede the first line.
    const piece = this.protocol === 'unknown' && this.#first === '' ? said.replace(BLANKS_BEFORE, '') : said
    if (this.protocol === 'unknown') this.#readFirstLine(piece)
    const text = this.#tail + piece
    const names: string[] = []
    for (const [, host = '', authority = host] of text.matchAll(NAMED)) names.push(...this.#namesOf(authority))
    for (const [, authority = ''] of text.matchAll(BEHIND_A_BODY)) names.push(...this.#namesOf(authority))
    this.hidden ||= ENDLESS.test(text) || HTTP2_PREFACE.test(text)
    this.headEnded ||= this.protocol === 'http1' && HEAD_END.test(text)
    // Long runs are shortened, so that they do not push the beginning of a line out of the kept characters.
    const short = text.replaceAll(BLANKS, ' ').replaceAll(LONG_RUN, run => run.slice(0, 128) + run.slice(-128))
    this.#tail = short.slice(-TAIL)
    return names
  }

  /** Several names if sites read the authority differently. */
  #namesOf(authority: string): string[] {
    const forms = authority.includes('%') ? [authority, decoded(authority)] : [authority]
    if (authority.includes('\\')) forms.push(...forms.map(form => form.replace(/\\.*$/s, '')))
    return forms.map(form => {
      // Sites ignore the port. `s`: `%0a` is a line end after decoding, and without it `.*$` would try each place before.
      const named = form
        .replace(/[/?#].*$/s, '')
        .replace(/^.*@/s, '')
        .replace(/^(\[[^\]]*\]|[^:]*):.*$/s, '$1')
      const name = parseAuthority(named, 80)?.host
      this.named ||= name !== undefined && !/^[\d.]+$|:/.test(name)
      // A site with a wildcard for its subdomains also accepts invalid names.
      return name ?? withoutEndDots(named.slice(-LONGEST_NAME).toLowerCase())
    })
  }

  /** Examines only new characters, because a line may come in thousands of pieces. */
  #readFirstLine(line: string): void {
    this.#firstBytes += line.length
    const end = line.search(/[\r\n]/)
    const more = end < 0 ? line : line.slice(0, end)
    const isVersion = VERSION.test(this.#lastOfFirst + more)
    this.#lastOfFirst = (this.#lastOfFirst + more).slice(-VERSION_LENGTH)
    this.#first += more
    if (isVersion) {
      this.protocol = 'http1'
    } else if (end >= 0) this.protocol = KNOWN_METHOD.test(this.#first) ? 'maybe-http' : 'other'
    else if (/^[^\t -~]/.test(more) && this.#first === more) this.protocol = 'other'
    else if (this.#firstBytes > MAX_FIRST_LINE) {
      if (REQUEST_BEGINS.test(this.#first)) this.hidden = true
      else this.protocol = 'other'
    }
    if (this.protocol !== 'unknown') this.#first = ''
  }
}

const decoded = (text: string): string =>
  text.replaceAll(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

function withoutEndDots(name: string): string {
  let end = name.length
  while (name[end - 1] === '.') end--
  return name.slice(0, end)
}
